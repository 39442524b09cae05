package cambium

// #include "shim.h"
import "C"

import "runtime/cgo"

// resources are objects of C that must live as long as a database uses them. release frees them, the last one first.
type resources struct{ releases []func() }

func (r *resources) add(release func()) { r.releases = append(r.releases, release) }

func (r *resources) release() {
	for i := len(r.releases) - 1; i >= 0; i-- {
		r.releases[i]()
	}
	r.releases = nil
}

// built is an Options in C. The objects that it needs are in the resources with which it was made.
type built struct {
	c     *C.cambium_options_t
	order *order // the comparator, if it is a callback
}

// build makes options of C. After an error it has added nothing that matters.
func (o *Options) build(r *resources) (*built, error) {
	if o == nil {
		o = NewOptions()
	}
	made := &built{}
	if o.statistics != nil {
		options, err := o.statistics.copyOptions()
		if err != nil {
			return nil, err
		}
		made.c = options
	} else {
		made.c = C.cambium_options_create()
	}
	c := made.c
	r.add(func() { C.cambium_options_destroy(c) })
	if o.compatible {
		C.cambium_options_optimize_for_rocksdb_compatibility(c)
	}
	onPanic := o.onPanic
	if onPanic == nil {
		onPanic = logPanic
	}
	if err := o.buildObjects(made, onPanic, r); err != nil {
		return nil, err
	}
	if len(o.texts) == 0 {
		return made, nil
	}
	text, err := cString("an option", o.String())
	if err != nil {
		return nil, err
	}
	defer freeString(text)
	var errptr *C.char
	C.cambium_get_options_from_string(c, text, c, &errptr)
	if err := takeError(errptr); err != nil {
		return nil, err
	}
	return made, nil
}

func (o *Options) buildObjects(made *built, onPanic func(*PanicError), r *resources) error {
	c := made.c
	if o.comparator != nil {
		comparator, order, err := o.comparator.build(onPanic)
		if err != nil {
			return err
		}
		made.order = order
		r.add(func() { C.cambium_comparator_destroy(comparator) })
		C.cambium_options_set_comparator(c, comparator)
	}
	if o.filter != nil {
		filter := newFilter(o.filter, onPanic)
		if filter == nil {
			return outOfMemory()
		}
		r.add(func() { C.cambium_compactionfilter_destroy(filter) })
		C.cambium_options_set_compaction_filter(c, filter)
	}
	if o.filterFactory != nil {
		factory := newFilterFactory(o.filterFactory, onPanic)
		if factory == nil {
			return outOfMemory()
		}
		C.cambium_options_set_compaction_filter_factory(c, factory)
	}
	for _, each := range o.listeners {
		listener := each.build(onPanic)
		if listener == nil {
			return outOfMemory()
		}
		C.cambium_options_add_eventlistener(c, listener)
		C.cambium_eventlistener_destroy(listener)
	}
	if o.logger != nil {
		handle := cgo.NewHandle(&logSink{o.logger, onPanic})
		state := C.cambium_go_state_create(C.uintptr_t(handle), nil, 0)
		if state == nil {
			handle.Delete()
			return outOfMemory()
		}
		// Added last here, so freed first: but the database that logs is closed before any resource is freed.
		r.add(func() { C.cambium_go_state_destroy(state) })
		logger := C.cambium_go_logger(C.int(o.logLevel), state)
		C.cambium_options_set_info_log(c, logger)
		C.cambium_logger_destroy(logger)
	}
	if o.rateLimiter != nil {
		if err := o.rateLimiter.setIn(c); err != nil {
			return err
		}
	}
	if o.bufferManager != nil {
		if err := o.bufferManager.setIn(c); err != nil {
			return err
		}
	}
	return nil
}

// FamilyDescriptor names a column family, with its options; nil: the defaults.
type FamilyDescriptor struct {
	Name    string
	Options *Options
}

// builtFamilies are descriptors in C: names, and options.
type builtFamilies struct {
	names   []*C.char
	options []*C.cambium_options_t
	orders  []*order
}

func buildFamilies(families []FamilyDescriptor, r *resources) (*builtFamilies, error) {
	made := &builtFamilies{}
	for _, each := range families {
		name, err := cString("the name of a column family", each.Name)
		if err != nil {
			return nil, err
		}
		r.add(func() { freeString(name) })
		options, err := each.Options.build(r)
		if err != nil {
			return nil, err
		}
		made.names = append(made.names, name)
		made.options = append(made.options, options.c)
		made.orders = append(made.orders, options.order)
	}
	// One more, so that the address of the first exists.
	made.names = append(made.names, nil)
	made.options = append(made.options, nil)
	return made, nil
}
