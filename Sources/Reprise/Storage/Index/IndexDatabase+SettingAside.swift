/// Unusable indexes are kept for inspection as `catalogue.damaged`, `catalogue.damaged.2` and so on.
extension IndexDatabase {
    private static let setAsideName = "catalogue.damaged"
    /// Recognized indexes that are kept, the newest ones.
    private static let mostSetAside = 3
    /// Most files that cannot be recognized, which are never removed.
    private static let mostUnknown = 8

    /// A file that was set aside, with SQLite's own files beside it.
    private struct SetAside {
        let number: Int
        let path: String
        let traces: IndexTraces

        init(_ number: Int, in directory: String, fileSystem: any FileSystem) throws(SystemError) {
            self.number = number
            path = directory + "/" + IndexDatabase.name(number)
            traces = try IndexTraces(path, fileSystem: fileSystem, isThorough: true)
        }

        /// Whether it may contain unencrypted URLs.
        var mayBePlain: Bool { traces.isIndex && !traces.isSealed }

        func remove(_ fileSystem: any FileSystem) throws(SystemError) {
            for suffix in IndexDatabase.fileSuffixes where (try? fileSystem.status(of: path + suffix)) != nil {
                try fileSystem.remove(path + suffix)
            }
        }
    }

    private static func name(_ number: Int) -> String { number == 1 ? setAsideName : "\(setAsideName).\(number)" }

    /// The files that were set aside in `directory`, newest first.
    private static func allSetAside(_ directory: String, fileSystem: any FileSystem) throws(SystemError) -> [SetAside] {
        var numbers: Set<Int> = []
        for name in try fileSystem.names(in: directory) where name.hasPrefix(setAsideName) {
            var rest = name.dropFirst(setAsideName.count)
            for suffix in fileSuffixes.dropFirst() where rest.hasSuffix(suffix) { rest = rest.dropLast(suffix.count) }
            let number = rest.isEmpty ? 1 : rest.first == "." ? Int(rest.dropFirst()) : nil
            if let number, number > 0, Self.name(number) == setAsideName + rest { numbers.insert(number) }
        }
        var all: [SetAside] = []
        for number in numbers.sorted(by: >) { all.append(try SetAside(number, in: directory, fileSystem: fileSystem)) }
        return all
    }

    /// Moves the index in `directory` aside under a new name; returns its fate in words.
    ///
    /// Keeps the newest recognized indexes, and all files that cannot be recognized.
    static func setAside(
        _ directory: String, fileSystem: any FileSystem, isSealed: Bool, reached: (CrashPoint) -> Void
    ) throws -> String {
        let before = try allSetAside(directory, fileSystem: fileSystem)
        let traces = try IndexTraces(directory + "/" + fileName, fileSystem: fileSystem, isThorough: true)
        if !traces.isIndex, before.count(where: { !$0.traces.isIndex }) >= mostUnknown {
            throw RepriseError(
                .storageUnavailable,
                "\(directory) has \(mostUnknown) files called \(setAsideName) that cannot be recognized. Move them away."
            )
        }
        let number = (before.first?.number ?? 0) + 1
        // The database last, because the other files belong to it.
        for suffix in fileSuffixes.reversed() {
            let path = "\(directory)/\(fileName)\(suffix)"
            if (try? fileSystem.status(of: path)) != nil {
                try fileSystem.rename(path, to: "\(directory)/\(name(number))\(suffix)")
            }
            reached(.settingAside)
        }
        try removeMark(suspicionName, in: directory, fileSystem: fileSystem)
        let own = try allSetAside(directory, fileSystem: fileSystem).filter(\.traces.isIndex)
        for old in own.dropFirst(mostSetAside) { try old.remove(fileSystem) }
        return isSealed && traces.isIndex && !traces.isSealed
            ? "it may hold URLs in plain, and was removed" : "it is kept as \(name(number))"
    }

    /// Removes indexes that were set aside and may contain unencrypted URLs, which must not remain in an encrypted
    /// cache.
    ///
    /// An index that says that it is encrypted stays, and so does a file that cannot be recognized as an index.
    static func removePlainSetAside(_ directory: String, fileSystem: any FileSystem) throws(SystemError) {
        for file in try allSetAside(directory, fileSystem: fileSystem) where file.mayBePlain {
            try file.remove(fileSystem)
        }
    }

    /// Whether the index in `directory` has a format from before the first release.
    static func isUnreleased(_ directory: String, fileSystem: any FileSystem) -> Bool {
        (try? IndexTraces(directory + "/" + fileName, fileSystem: fileSystem))?.isUnreleased == true
    }

    /// Moves a cache of an unreleased format, media included, to a folder of its own; returns the reason for the reset,
    /// or `nil` if the format is another one.
    ///
    /// The folder is a complete cache directory for the version that made it. A killed process leaves the index in its
    /// place, so that the next opening moves the rest to the same folder.
    static func setAsideUnreleased(
        _ directory: String, fileSystem: any FileSystem, reached: (CrashPoint) -> Void
    ) throws(RepriseError) -> String? {
        guard isUnreleased(directory, fileSystem: fileSystem) else { return nil }
        var (folder, number) = ("unreleased", 1)
        while exists("\(folder)/\(fileName)", in: directory, fileSystem: fileSystem) {
            number += 1
            folder = "unreleased.\(number)"
        }
        do throws(SystemError) {
            try fileSystem.makeDirectory("\(directory)/\(folder)")
            for name in ["media", resettingName, suspicionName] + fileSuffixes.reversed().map({ fileName + $0 }) {
                if exists(name, in: directory, fileSystem: fileSystem) {
                    try fileSystem.rename("\(directory)/\(name)", to: "\(directory)/\(folder)/\(name)")
                }
                reached(.settingAside)
            }
        } catch {
            throw RepriseError(
                .storageUnavailable,
                "The cache in \(directory) was made by a version of Reprise that was never released, and cannot be moved to "
                    + "\(directory)/\(folder). Move it away, or choose another directory.", cause: error)
        }
        return
            "it was made by a version of Reprise that was never released; it is kept in \(directory)/\(folder), which can be "
            + "deleted"
    }

    /// Removes one of the empty files that mark a state of the cache, if it exists.
    static func removeMark(_ name: String, in directory: String, fileSystem: any FileSystem) throws(SystemError) {
        do throws(SystemError) {
            try fileSystem.remove("\(directory)/\(name)")
        } catch {
            guard error.isMissingFile else { throw error }
        }
    }
}
