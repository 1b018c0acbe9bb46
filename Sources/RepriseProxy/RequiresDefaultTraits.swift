#if !canImport(NIOCore)
    #error("RepriseProxy needs the default traits of the package reprise: remove `traits: []` from the dependency.")
#endif
