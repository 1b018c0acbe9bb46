#if !canImport(NIOCore)
    #error("RepriseHTTPClient needs the default traits of the package reprise: remove `traits: []` from the dependency.")
#endif
