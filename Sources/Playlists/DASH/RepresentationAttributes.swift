/// Attributes that an adaptation set and its representations share (ISO/IEC 23009-1 §5.3.7).
package struct RepresentationAttributes: Hashable, Sendable {
    /// `@mimeType`.
    package internal(set) var mimeType: String?
    /// `@codecs`.
    package internal(set) var codecs: String?
    /// `@width`, in pixels.
    package internal(set) var width: Int64?
    /// `@height`, in pixels.
    package internal(set) var height: Int64?
    /// `@frameRate`, as written: `25` or `30000/1001`.
    package internal(set) var frameRate: String?
    /// `@audioSamplingRate`, as written.
    package internal(set) var audioSamplingRate: String?

    /// These attributes, with those of `outer` where they are missing.
    func inheriting(from outer: RepresentationAttributes) -> RepresentationAttributes {
        var result = self
        result.mimeType = mimeType ?? outer.mimeType
        result.codecs = codecs ?? outer.codecs
        result.width = width ?? outer.width
        result.height = height ?? outer.height
        result.frameRate = frameRate ?? outer.frameRate
        result.audioSamplingRate = audioSamplingRate ?? outer.audioSamplingRate
        return result
    }
}
