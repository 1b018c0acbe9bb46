#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Names of hosts that settings are about: a host, or with a leading dot a domain and its subdomains.
package enum HostPattern {
    /// How specific a name is: a host is longer than each domain that it lies in, and so is a domain in another.
    package static func rank(_ name: String) -> (Int, Int) { (name.hasPrefix(".") ? 0 : 1, name.utf8.count) }

    /// Whether `name` is about `host`, which is in lower case.
    ///
    /// IPv6 addresses are compared as addresses: `2001:db8::7` is `2001:db8:0:0:0:0:0:7`.
    package static func covers(_ name: String, _ host: String) -> Bool {
        name.hasPrefix(".") ? host.hasSuffix(name) || host == name.dropFirst() : isSame(name, host)
    }

    /// Whether two names are the same, or two spellings of an IPv6 address.
    package static func isSame(_ name: String, _ other: String) -> Bool {
        guard name != other, name.contains(":"), other.contains(":") else { return name == other }
        return address(name).map { $0 == address(other) } ?? false
    }

    /// The 16 bytes of an IPv6 address; `nil` if `text` is none.
    private static func address(_ text: String) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 16)
        return inet_pton(AF_INET6, text, &bytes) == 1 ? bytes : nil
    }

    /// The one of `names` that is most specifically about `host`.
    package static func mostSpecific(_ names: some Sequence<String>, for host: String) -> String? {
        names.filter { covers($0, host) }.max { rank($0) < rank($1) }
    }
}
