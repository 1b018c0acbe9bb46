/// Names of hosts that settings are about: a host, or with a leading dot a domain and its subdomains.
package enum HostPattern {
    /// How specific a name is: a host is longer than each domain that it lies in, and so is a domain in another.
    package static func rank(_ name: String) -> (Int, Int) { (name.hasPrefix(".") ? 0 : 1, name.utf8.count) }

    /// Whether `name` is about `host`, which is in lower case.
    package static func covers(_ name: String, _ host: String) -> Bool {
        name.hasPrefix(".") ? host.hasSuffix(name) || host == name.dropFirst() : host == name
    }

    /// The one of `names` that is most specifically about `host`.
    package static func mostSpecific(_ names: some Sequence<String>, for host: String) -> String? {
        names.filter { covers($0, host) }.max { rank($0) < rank($1) }
    }
}
