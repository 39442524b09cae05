/* The extension module cambium._core. */
#include "core.h"

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "cambium._core",
    .m_doc = PyDoc_STR("The C interface of Cambium. Use the package cambium."),
    .m_size = -1,
    .m_methods = tool_methods,
};

static bool add_type(PyObject* module, const char* name, PyTypeObject* type) {
  if (PyType_Ready(type) != 0) return false;
  Py_INCREF(type);
  if (PyModule_AddObject(module, name, (PyObject*)type) == 0) return true;
  Py_DECREF(type);
  return false;
}

PyMODINIT_FUNC PyInit__core(void) {
  static const struct {
    const char* name;
    PyTypeObject* type;
  } types[] = {
      {"Handle", &HandleType},
      {"Family", &FamilyType},
      {"SnapshotHandle", &SnapshotType},
      {"Reader", &ReaderType},
      {"Store", &StoreType},
      {"Iterator", &IteratorType},
      {"RawIterator", &RawIteratorType},
      {"WriteBatch", &BatchType},
      {"WriteConditions", &ConditionsType},
      {"Transaction", &TransactionType},
      {"IndexedBatch", &IndexedBatchType},
      {"PinnedValue", &PinnedType},
      {"Options", &OptionsType},
      {"Comparator", &ComparatorType},
      {"Filter", &FilterType},
      {"FilterFactory", &FilterFactoryType},
      {"Listener", &ListenerType},
      {"Logger", &LoggerType},
      {"RateLimiter", &RateLimiterType},
      {"WriteBufferManager", &WriteBufferManagerType},
      {"BackupEngine", &BackupEngineType},
      {"AsyncReader", &AsyncReaderType},
  };
  if (cambium_abi_version() != CAMBIUM_ABI_VERSION) {
    PyErr_Format(PyExc_ImportError, "libcambium has version %d of its interface, this module was built for version %d",
                 cambium_abi_version(), CAMBIUM_ABI_VERSION);
    return NULL;
  }
  if (!errors_init() || !guard_init()) return NULL;
  PyObject* const module = PyModule_Create(&definition);
  if (module == NULL) return NULL;
  for (size_t i = 0; i < sizeof types / sizeof types[0]; ++i) {
    if (!add_type(module, types[i].name, types[i].type)) {
      Py_DECREF(module);
      return NULL;
    }
  }
  if (PyModule_AddIntConstant(module, "ABI_VERSION", CAMBIUM_ABI_VERSION) != 0) {
    Py_DECREF(module);
    return NULL;
  }
  return module;
}
