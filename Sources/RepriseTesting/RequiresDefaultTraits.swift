#if !canImport(NIOCore)
    #error("RepriseTesting needs the default traits of the package reprise: remove `traits: []` from the dependency.")
#endif
