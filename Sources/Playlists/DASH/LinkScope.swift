/// Where in an MPD something stands: the period, adaptation set and representation around it, by their indices.
package struct LinkScope: Hashable, Sendable {
    /// Index in ``MPD/periods``.
    package internal(set) var period: Int?
    /// Index in ``Period/adaptationSets``.
    var adaptationSet: Int?
    /// Index in ``AdaptationSet/representations``.
    var representation: Int?
}
