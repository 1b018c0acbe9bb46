// Built before the products that need SwiftNIO's TLS: without it the compiler would name only the modules that it
// misses.
#if !Proxy
    #error("This product needs the default traits of the package reprise: remove `traits:` from the dependency.")
#endif
