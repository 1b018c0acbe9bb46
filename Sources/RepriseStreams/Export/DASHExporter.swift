import Playlists
import Reprise

/// Plans the export of a DASH stream: the representations that are stored as wholes, and their segments.
///
/// Each representation gets a base of its own, a folder, in which patterns and lists have names that lead nowhere else.
/// What the edited MPD makes of them is where the files are put.
struct DASHExporter {
    private(set) var plan = ExportPlan()
    /// The MPD as it will be.
    private(set) var edited: MPD
    private var extents: StoredExtents
    private var names = ExportNames()
    /// Names in the folders of representations, by the links that they replace.
    private var localNames: [String: String] = [:]
    /// Where single files of representations are.
    private var singleFiles: [CacheKey: String] = [:]
    /// Representations that become one file each, without a list of its parts.
    private var unlisted: Set<MPD.Path> = []
    private let base: URIReference
    private let url: ResourceURL

    /// Plans the export of `mpd`, which is stored as `entry`, under `name`.
    ///
    /// Throws as ``HLSExporter/init(_:of:named:selection:in:)``.
    init(
        _ mpd: MPD, of entry: CacheEntry, named name: String, selection: StreamSelection?, in files: StoredFiles
    ) throws {
        extents = StoredExtents(files)
        edited = mpd
        url = entry.url
        base = URIReference((entry.information.finalURL ?? entry.url).description)
        guard !mpd.isDynamic else { throw Shortfall.error([(entry.url.lastPathComponent, .live)], of: entry.url) }
        let isRemote = mpd.periods.contains { $0.remote != nil || $0.adaptationSets.contains { $0.remote != nil } }
        guard !isRemote else {
            throw RepriseError(.notDownloadable, "Parts of the MPD lie elsewhere (xlink), which is not followed.")
        }
        var whole = try stored(mpd)
        if let selection {
            let chosen = Set(try DASHSelection(whole, by: selection).paths)
            whole = try whole.keeping(OfflineSelection(of: whole) { chosen.contains($0) })
        }
        edited = try localized(whole)
        for path in whole.paths { try add(path, of: whole, asIn: edited) }
        plan.add(edited.bytes, at: name)
    }

    // MARK: - Stored representations

    /// `mpd` with only those representations that are stored as wholes.
    private mutating func stored(_ mpd: MPD) throws -> MPD {
        var whole: Set<MPD.Path> = []
        var lacking: [(name: String, shortfall: Shortfall)] = []
        for path in mpd.paths {
            guard let shortfall = try shortfall(of: path, in: mpd) else {
                whole.insert(path)
                continue
            }
            lacking.append((mpd.name(of: path), shortfall))
        }
        let selection = OfflineSelection(of: mpd) { whole.contains($0) }
        guard !selection.isEmpty else { throw Shortfall.error(lacking, of: url) }
        return try mpd.keeping(selection)
    }

    private mutating func shortfall(of path: MPD.Path, in mpd: MPD) throws(RepriseError) -> Shortfall? {
        if mpd.periods[path.period].adaptationSets[path.adaptationSet].isProtected { return .protected }
        guard let segments = try? mpd.segments(of: path, base: base) else { return .unlisted }
        guard !segments.isEmpty else { return .empty }
        let missing = try count(Array(segments))
        let maps = try count(mpd.initialization(of: path, base: base).map { [$0] } ?? [])
        guard missing + maps > 0 else { return nil }
        return .missing(segments: missing, of: segments.count, keys: 0, maps: maps)
    }

    /// How many of `segments` are not stored.
    private mutating func count(_ segments: [DASHSegment]) throws(RepriseError) -> Int {
        var missing = 0
        for segment in segments where segment.target != .leftAlone(.scheme("data")) {
            if try extents.entry(holding: segment.extent, at: segment.target) == nil { missing += 1 }
        }
        return missing
    }

    // MARK: - Links

    /// `mpd` written again with the links of an export.
    private mutating func localized(_ mpd: MPD) throws -> MPD {
        var writer = MPDWriter(mpd)
        var lists: [Range<Int>] = []
        for path in mpd.paths {
            writer.setBase(try base(of: path, in: mpd), of: mpd.representation(at: path))
            if let list = try listOfWholeFile(path, in: mpd) {
                writer.remove(list)
                lists.append(list)
                unlisted.insert(path)
            }
        }
        for (index, link) in mpd.links.enumerated() {
            switch link.kind {
            case .mediaTemplate, .initializationTemplate, .segment, .map:
                writer.set(try localName(of: link, in: mpd), ofLink: index)
            default: break
            }
        }
        // ffmpeg takes such a number for the place of the first segment in the list, counted from 0, and begins there.
        for number in mpd.startNumbersOfLists where !lists.contains(where: { $0.contains(number.lowerBound) }) {
            writer.remove(number)
        }
        return try MPD(try writer.written())
    }

    /// The `SegmentList` of a representation if its parts are all bytes of one file, in their order; `nil` otherwise.
    ///
    /// Without the list the file is the one segment. ffmpeg up to 5.1 at least reads such parts of a file on disk in an
    /// endless loop.
    private mutating func listOfWholeFile(_ path: MPD.Path, in mpd: MPD) throws -> Range<Int>? {
        let period = mpd.periods[path.period]
        guard let list = mpd.representation(at: path).segments, list.kind == .list, let element = list.element,
            period.segments == nil, period.adaptationSets[path.adaptationSet].segments == nil,
            list.presentationTimeOffset ?? 0 == 0, list.initialization?.link == nil,
            list.segmentURLs?.allSatisfy({ $0.link == nil }) ?? false
        else { return nil }
        let segments =
            (mpd.initialization(of: path, base: base).map { [$0] } ?? []) + (try mpd.segments(of: path, base: base))
        var end: Int64 = 0
        for segment in segments {
            guard case .range(let range) = segment.extent, range.lowerBound == end else { return nil }
            end = range.upperBound
        }
        guard let first = segments.first, let entry = try extents.entry(holding: .whole, at: first.target),
            entry.information.completeLength == end
        else { return nil }
        return element
    }

    /// The base of a representation's links: its folder, or in it the file that the base itself names.
    private mutating func base(of path: MPD.Path, in mpd: MPD) throws -> String {
        let set = mpd.periods[path.period].adaptationSets[path.adaptationSet]
        let medium = ["video", "audio", "text", "image"].contains(set.medium) ? set.medium : "media"
        let file = URIReference("").resolved(against: mpd.baseURL(of: path, base: base)).withoutFragment
        let segments =
            try mpd.segments(of: path, base: base) + (mpd.initialization(of: path, base: base).map { [$0] } ?? [])
        let usesBase = mpd.segmentInformation(of: path).map { $0.kind != .template } ?? true
        guard usesBase, let single = segments.first(where: { $0.target == .fetchable(file) }),
            let entry = try extents.entry(holding: single.extent, at: single.target)
        else { return names.folder(medium) + "/" }
        if let known = singleFiles[entry.key], segments.allSatisfy({ $0.target == single.target }) { return known }
        let ending = ExportNames.ending(of: file, mediaType: entry.information.mediaType, otherwise: "mp4")
        let place = "\(names.folder(medium))/media.\(ending)"
        singleFiles[entry.key] = place
        return place
    }

    /// What a link is called in the folder of each representation that uses it.
    private mutating func localName(of link: Link, in mpd: MPD) throws -> String {
        let reference = mpd.reference(of: link)
        if reference.scheme == "data" { return reference.text }
        let isMap = [.map, .initializationTemplate].contains(link.kind)
        let ending = ExportNames.ending(of: reference, mediaType: nil, otherwise: isMap ? "mp4" : "m4s")
        switch link.kind {
        case .mediaTemplate: return (["segment"] + mpd.identifiers(of: link)).joined(separator: "-") + ".\(ending)"
        case .initializationTemplate: return "init.\(ending)"
        default: break
        }
        if let known = localNames[reference.text] { return known }
        let name = String(names.file(isMap ? "init" : "file", in: "", extension: ending).dropFirst())
        localNames[reference.text] = name
        return name
    }

    // MARK: - Files

    /// Adds the files of a representation where the links of `edited` lead to.
    private mutating func add(_ path: MPD.Path, of mpd: MPD, asIn edited: MPD) throws {
        let place = URIReference(ExportNames.place)
        let sources =
            try mpd.segments(of: path, base: base) + (mpd.initialization(of: path, base: base).map { [$0] } ?? [])
        let targets =
            try edited.segments(of: path, base: place)
            + (edited.initialization(of: path, base: place).map { [$0] } ?? [])
        let isWhole = unlisted.contains(path)
        guard sources.count == targets.count || isWhole && targets.count == 1 else { throw ExportPlan.collision }
        for (source, target) in zip(sources, targets) where source.target != .leftAlone(.scheme("data")) {
            guard case .fetchable(let uri) = target.target, uri.text.hasPrefix(ExportNames.place), uri.query == nil,
                let entry = try extents.entry(holding: source.extent, at: source.target),
                plan.add(
                    isWhole ? .whole : source.extent, of: entry, at: String(uri.text.dropFirst(ExportNames.place.count))
                )
            else { throw ExportPlan.collision }
        }
    }
}

extension MPD {
    fileprivate func representation(at path: Path) -> Representation {
        periods[path.period].adaptationSets[path.adaptationSet].representations[path.representation]
    }

    /// What a representation is called in messages.
    fileprivate func name(of path: Path) -> String {
        let id = String(representation(at: path).id.filter { $0.isASCII && $0 >= " " }.prefix(24))
        return "representation \(id.isEmpty ? "\(path.representation + 1)" : id)"
    }

    /// The MPD with only what `selection` keeps.
    fileprivate func keeping(_ selection: OfflineSelection) throws -> MPD {
        var editor = PlaylistEditor(bytes)
        try editor.keep(selection)
        return try MPD(try editor.edited())
    }
}
