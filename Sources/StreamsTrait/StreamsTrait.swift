// Built before the products that need SwiftNIO: without it the compiler would name only the modules that it misses.
#if !Streams
    #error("This product needs the trait Streams of the package reprise: write `traits: [\"Streams\"]`, or no traits.")
#endif
