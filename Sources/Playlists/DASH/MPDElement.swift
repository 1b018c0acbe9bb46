/// The elements of an MPD that are read, by their local names.
enum MPDElement: Hashable {
    case mpd, patch, period, adaptationSet, representation
    case segmentTemplate, segmentList, segmentBase, segmentTimeline, run, segmentURL
    case initialization, representationIndex, bitstreamSwitching
    case baseURL, location, patchLocation, contentSteering, importedMPD
    case clock, contentProtection, initializationSet
    /// `SupplementalProperty` or `EssentialProperty`.
    case property
    /// `InsertPresentation` and its kin: another MPD to play in between.
    case alternative
    case other

    init(_ bytes: [UInt8], name: Range<Int>) {
        self = Self.names.first { bytes.matches(name, text: $0.0) }?.1 ?? .other
    }

    /// What the text of the element names.
    var textKind: LinkKind? {
        switch self {
        case .baseURL: .baseURL
        case .location: .location
        case .patchLocation: .patchLocation
        case .contentSteering: .steering
        case .importedMPD: .importedMPD
        default: nil
        }
    }

    private static let names: [(StaticString, MPDElement)] = [
        ("S", .run), ("SegmentURL", .segmentURL), ("BaseURL", .baseURL), ("Representation", .representation),
        ("SegmentTemplate", .segmentTemplate), ("SegmentList", .segmentList), ("SegmentBase", .segmentBase),
        ("SegmentTimeline", .segmentTimeline), ("Initialization", .initialization),
        ("RepresentationIndex", .representationIndex), ("BitstreamSwitching", .bitstreamSwitching),
        ("AdaptationSet", .adaptationSet), ("Period", .period), ("MPD", .mpd), ("Patch", .patch),
        ("Location", .location), ("PatchLocation", .patchLocation), ("ContentSteering", .contentSteering),
        ("ImportedMPD", .importedMPD), ("UTCTiming", .clock), ("ContentProtection", .contentProtection),
        ("SupplementalProperty", .property), ("EssentialProperty", .property),
        ("InitializationSet", .initializationSet), ("InsertPresentation", .alternative),
        ("ReplacePresentation", .alternative),
        ("OverwritePresentation", .alternative),
    ]
}
