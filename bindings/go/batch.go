package cambium

import (
	"encoding/binary"
	"iter"
	"math"
)

// The codes of operations, as shim.h has them.
const (
	opPut         = 1
	opDelete      = 2
	opDeleteRange = 3
	opHeaderBytes = 1 + 3*4
)

// WriteBatch collects operations that DB.Write applies as a whole, over all column families. The zero value is an empty
// batch. It is memory of Go: it need not be closed, and it may be written to several databases if it has no column
// families. Keys and values are copied.
//
// An operation that the library does not accept, for example because its key is too long, makes DB.Write fail.
type WriteBatch struct {
	ops      []byte          // each: a code, then in 4 bytes each: number in families, key bytes, value bytes; key, value
	families []*ColumnFamily // families[0] is nil: the default one
	count    int
	points   []savePoint
	err      error // an operation that cannot be encoded
}

type savePoint struct {
	bytes, count int
	err          error
}

// NewWriteBatch returns an empty batch.
func NewWriteBatch() *WriteBatch { return &WriteBatch{} }

// Put adds: set the value of a key of the default family.
func (b *WriteBatch) Put(key, value []byte) { b.add(opPut, nil, key, value) }

// Delete adds: delete a key of the default family.
func (b *WriteBatch) Delete(key []byte) { b.add(opDelete, nil, key, nil) }

// DeleteRange adds: delete the keys of the default family from start on that are before end.
func (b *WriteBatch) DeleteRange(start, end []byte) { b.add(opDeleteRange, nil, start, end) }

// PutIn adds: set the value of a key of a family.
func (b *WriteBatch) PutIn(family *ColumnFamily, key, value []byte) {
	b.addIn(opPut, family, key, value)
}

// DeleteIn adds: delete a key of a family.
func (b *WriteBatch) DeleteIn(family *ColumnFamily, key []byte) { b.addIn(opDelete, family, key, nil) }

// DeleteRangeIn adds: delete the keys of a family from start on that are before end.
func (b *WriteBatch) DeleteRangeIn(family *ColumnFamily, start, end []byte) {
	b.addIn(opDeleteRange, family, start, end)
}

func (b *WriteBatch) addIn(code byte, family *ColumnFamily, key, value []byte) {
	if family == nil {
		b.refuse(invalidArgument("the column family is nil"))
		return
	}
	b.add(code, family, key, value)
}

func (b *WriteBatch) refuse(err error) {
	if b.err == nil {
		b.err = err
	}
}

func (b *WriteBatch) add(code byte, family *ColumnFamily, key, value []byte) {
	if len(key) > math.MaxUint32 || len(value) > math.MaxUint32 {
		b.refuse(invalidArgument("a key or a value has more than 4 GiB - 1 bytes"))
		return
	}
	b.ops = append(b.ops, code)
	b.ops = binary.NativeEndian.AppendUint32(b.ops, uint32(b.number(family)))
	b.ops = binary.NativeEndian.AppendUint32(b.ops, uint32(len(key)))
	b.ops = binary.NativeEndian.AppendUint32(b.ops, uint32(len(value)))
	b.ops = append(append(b.ops, key...), value...)
	b.count++
}

// number returns the number of a family in b.families.
func (b *WriteBatch) number(family *ColumnFamily) int {
	if len(b.families) == 0 {
		b.families = append(b.families, nil)
	}
	for i := len(b.families) - 1; i >= 0; i-- {
		if b.families[i] == family {
			return i
		}
	}
	b.families = append(b.families, family)
	return len(b.families) - 1
}

// Len returns the number of operations.
func (b *WriteBatch) Len() int { return b.count }

// Size returns the bytes of the operations in memory.
func (b *WriteBatch) Size() int { return len(b.ops) }

// Reset removes all operations and save points, and keeps the memory.
func (b *WriteBatch) Reset() {
	clear(b.families)
	*b = WriteBatch{ops: b.ops[:0], families: b.families[:0], points: b.points[:0]}
}

// Append adds all operations of another batch.
func (b *WriteBatch) Append(other *WriteBatch) {
	for op := range other.encoded() {
		b.add(op.code, other.families[op.family], op.key, op.value)
	}
	if other.err != nil {
		b.refuse(other.err)
	}
}

// SetSavePoint remembers the operations that the batch has now.
func (b *WriteBatch) SetSavePoint() {
	b.points = append(b.points, savePoint{len(b.ops), b.count, b.err})
}

// RollbackToSavePoint removes the operations since the newest save point, and the save point. ErrNotFound: there is none.
func (b *WriteBatch) RollbackToSavePoint() error {
	if len(b.points) == 0 {
		return ErrNotFound
	}
	point := b.points[len(b.points)-1]
	b.points = b.points[:len(b.points)-1]
	b.ops, b.count, b.err = b.ops[:point.bytes], point.count, point.err
	return nil
}

// PopSavePoint removes the newest save point, and no operation. ErrNotFound: there is none.
func (b *WriteBatch) PopSavePoint() error {
	if len(b.points) == 0 {
		return ErrNotFound
	}
	b.points = b.points[:len(b.points)-1]
	return nil
}

// encodedOp is an operation as b.ops has it.
type encodedOp struct {
	code       byte
	family     uint32
	key, value []byte
}

// encoded returns the operations, in order.
func (b *WriteBatch) encoded() iter.Seq[encodedOp] {
	return func(yield func(encodedOp) bool) {
		for rest := b.ops; len(rest) > 0; {
			var op encodedOp
			op, rest = decodeOp(rest)
			if !yield(op) {
				return
			}
		}
	}
}

func decodeOp(ops []byte) (op encodedOp, rest []byte) {
	op.code = ops[0]
	op.family = binary.NativeEndian.Uint32(ops[1:])
	key := int(binary.NativeEndian.Uint32(ops[5:]))
	value := int(binary.NativeEndian.Uint32(ops[9:]))
	rest = ops[opHeaderBytes:]
	op.key, op.value = rest[:key:key], rest[key:key+value:key+value]
	return op, rest[key+value:]
}

// OpKind is the kind of an operation of a batch.
type OpKind int

// The kinds of operations.
const (
	OpPut         OpKind = opPut
	OpDelete      OpKind = opDelete
	OpDeleteRange OpKind = opDeleteRange
)

// Op is an operation of a batch.
type Op struct {
	Kind   OpKind
	Family *ColumnFamily // nil: the default one
	Key    []byte        // of a range: its start
	Value  []byte        // of a range: its end
}

// Ops returns the operations of the batch, in order. The batch must not change meanwhile, and the bytes of the
// operations must not be changed.
func (b *WriteBatch) Ops() iter.Seq[Op] {
	return func(yield func(Op) bool) {
		for op := range b.encoded() {
			if !yield(Op{OpKind(op.code), b.families[op.family], op.key, op.value}) {
				return
			}
		}
	}
}
