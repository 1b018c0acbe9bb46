import Playlists
import Primitives
package import Reprise

/// What a cast serves: one title, and what the playlists name that were served for it.
///
/// Anything else of the cache, of its origins and of the network is refused, because other devices on the network may
/// learn the address.
package final class CastScope: Sendable {
    /// What one playlist names, by hashes with the process's own seed.
    private struct Names {
        var files: Set<Int> = []
        var templates: [FileTemplate] = []

        func contains(_ url: String, hash: Int) -> Bool {
            files.contains(hash) || templates.contains { $0.matches(url) }
        }
    }

    /// A playlist that was served: what it names now, and what it named before.
    private struct List {
        private var current: Names
        /// Files that it does not name any more, with the number of the version that left them out first.
        private var former: [Int: Int] = [:]
        private var formerTemplates: [FileTemplate] = []
        private var version = 0

        init(_ names: Names) { current = names }

        func contains(_ url: String, hash: Int) -> Bool {
            current.contains(url, hash: hash) || former[hash] != nil
                || formerTemplates.contains { $0.matches(url) }
        }

        /// A file is served for as many versions after it has left the list as the list has files: a player may be that
        /// far behind (RFC 8216 §6.2.2).
        mutating func follow(_ names: Names) {
            defer { (formerTemplates, current) = (current.templates, names) }
            guard names.files != current.files else { return }
            version += 1
            for file in current.files.subtracting(names.files) { former[file] = version }
            let oldest = version - names.files.count
            former = former.filter { $0.value >= oldest && !names.files.contains($0.key) }
            if former.count > CastScope.mostNames { former = former.filter { $0.value == version } }
        }
    }

    /// Most names of a playlist, and most playlists: a hostile origin cannot fill the memory.
    private static let mostNames = 200_000
    private static let mostTemplates = 64
    private static let mostLists = 500

    private let title: ResourceURL
    private let lists = Mutex<[ResourceURL: List]>([:])

    /// A scope of the file or stream at `title`.
    package init(_ title: ResourceURL) { self.title = title.withoutDirectives }

    /// Whether the file at `url` is served.
    func contains(_ url: ResourceURL) -> Bool {
        let plain = url.withoutDirectives
        if plain == title { return true }
        let names = [url.description, plain.description].map { ($0, $0.hashValue) }
        return lists.withLock { lists in
            lists.values.contains { list in
                names.contains { list.contains($0.0, hash: $0.1) }
            }
        }
    }

    /// Whether a playlist may name `url`, which may be a template.
    ///
    /// A playlist may be hostile, or altered on its way: it must not open the network of this machine. Addresses are
    /// served only of the title's own host, and no host is a pattern.
    private func isServed(_ url: String) -> Bool {
        guard let url = try? ResourceURL(url), !url.host.contains("$") else { return false }
        return url.host == title.host || !Self.isAddress(url.host)
    }

    /// Whether a host is no name that the whole world looks up: an address in any form, or this machine.
    private static func isAddress(_ host: String) -> Bool {
        let labels = host.split(separator: ".")
        // No name ends in a label that begins with a digit (URL Standard §3.5, RFC 6761 §6.3).
        return host.contains(":") || labels.last?.first?.isNumber ?? true || labels.last == "localhost"
    }

    /// Notes what `playlist` names, which was found at `document` when `url` was asked for.
    func note(_ playlist: Playlist, at url: ResourceURL, document: URIReference) {
        var names = Names()
        for (link, target) in playlist.targets(in: document) where names.files.count < Self.mostNames {
            switch link.kind {
            case .mediaTemplate, .initializationTemplate, .indexTemplate:
                guard names.templates.count < Self.mostTemplates, isServed(target.text) else { continue }
                if let template = FileTemplate(target.text) { names.templates.append(template) }
            case .clock, .steering: continue
            case .baseURL where target.path.hasSuffix("/"): continue
            default:
                guard let file = try? ResourceURL(target.withoutFragment.text), isServed(file.description) else {
                    continue
                }
                names.files.insert(file.description.hashValue)
            }
        }
        let key = url.withoutDirectives
        lists.withLock { lists in
            if lists[key] != nil {
                lists[key]?.follow(names)
            } else if lists.count < Self.mostLists {
                lists[key] = List(names)
            }
        }
    }
}
