package cambium

// #include "shim.h"
import "C"

import (
	"strings"
	"unsafe"
)

// Resolve returns all options that have a text, by name, with the defaults for those that are not set. It is an error
// if an option is unknown or not legal.
func (o *Options) Resolve() (map[string]string, error) {
	var r resources
	defer r.release()
	made, err := o.build(&r)
	if err != nil {
		return nil, err
	}
	return textsOf(made.c)
}

func textsOf(c *C.cambium_options_t) (map[string]string, error) {
	var errptr *C.char
	text := C.cambium_options_to_string(c, &errptr)
	if err := takeError(errptr); err != nil {
		return nil, err
	}
	return splitOptions(takeText(text)), nil
}

// splitOptions reads "name=value;name=value". A value may be in braces.
func splitOptions(text string) map[string]string {
	options := make(map[string]string)
	depth, start := 0, 0
	for i := 0; i <= len(text); i++ {
		if i < len(text) {
			switch text[i] {
			case '{':
				depth++
				continue
			case '}':
				depth--
				continue
			case ';':
				if depth > 0 {
					continue
				}
			default:
				continue
			}
		}
		if name, value, found := strings.Cut(text[start:i], "="); found {
			value = strings.TrimSpace(value)
			if strings.HasPrefix(value, "{") && strings.HasSuffix(value, "}") {
				value = value[1 : len(value)-1]
			}
			options[strings.TrimSpace(name)] = value
		}
		start = i + 1
	}
	return options
}

// ParseOptions reads options as text: "write_buffer_size=16M; compression=kZSTD".
func ParseOptions(text string) (*Options, error) {
	o := NewOptions()
	o.texts = splitOptions(text)
	// The library judges the text as it is, which finds errors that splitOptions passes over.
	c, err := cString("the text of options", text)
	if err != nil {
		return nil, err
	}
	defer freeString(c)
	options := C.cambium_options_create()
	defer C.cambium_options_destroy(options)
	var errptr *C.char
	C.cambium_get_options_from_string(options, c, options, &errptr)
	if err := takeError(errptr); err != nil {
		return nil, err
	}
	return o, nil
}

// LoadLatestOptions reads the newest OPTIONS file of a database: the options of the database and of its default family,
// and those of all families. Comparators of the caller's own are found by name in `comparators`. With ignoreUnknown,
// options of later versions are left out.
func LoadLatestOptions(path string, ignoreUnknown bool, comparators ...*Comparator) (*Options, []FamilyDescriptor, error) {
	name, err := cString("the path", path)
	if err != nil {
		return nil, nil, err
	}
	defer freeString(name)
	var r resources
	defer r.release()
	list := make([]*C.cambium_comparator_t, 0, len(comparators)+1)
	for _, each := range comparators {
		comparator, _, err := each.build(logPanic)
		if err != nil {
			return nil, nil, err
		}
		r.add(func() { C.cambium_comparator_destroy(comparator) })
		list = append(list, comparator)
	}
	list = append(list, nil)

	var (
		whole   *C.cambium_options_t
		count   C.size_t
		names   **C.char
		options **C.cambium_options_t
		errptr  *C.char
	)
	C.cambium_load_latest_options(name, truth(ignoreUnknown), &list[0], C.size_t(len(comparators)), &whole, &count,
		&names, &options, &errptr)
	if err := takeError(errptr); err != nil {
		return nil, nil, err
	}
	defer C.cambium_load_latest_options_destroy(whole, names, options, count)
	loaded, err := optionsOf(whole, comparators)
	if err != nil {
		return nil, nil, err
	}
	families := make([]FamilyDescriptor, count)
	for i := range families {
		its, err := optionsOf(unsafe.Slice(options, int(count))[i], comparators)
		if err != nil {
			return nil, nil, err
		}
		families[i] = FamilyDescriptor{C.GoString(unsafe.Slice(names, int(count))[i]), its}
	}
	return loaded, families, nil
}

// optionsOf makes an Options of options of C.
func optionsOf(c *C.cambium_options_t, comparators []*Comparator) (*Options, error) {
	texts, err := textsOf(c)
	if err != nil {
		return nil, err
	}
	o := &Options{texts: texts}
	for _, each := range comparators {
		if texts["comparator"] == each.escapedName() {
			o.SetComparator(each)
		}
	}
	return o, nil
}
