extension MPD {
    /// The description of the period at `index` alone, which begins at 0.
    ///
    /// It is as long as the period, in whole seconds, rounded up: ffmpeg reads no fractions of a duration, and would
    /// leave out the last segment. Throws `misplacedEdit` if a period lies in another one.
    package func presentation(ofPeriod index: Int) throws(PlaylistError) -> [UInt8] {
        var editor = PlaylistEditor(bytes, within: budget)
        for (other, period) in periods.enumerated() where other != index { try editor.remove(period.element) }
        if let start = periods[index].startAttribute { try editor.remove(start) }
        if let duration = duration(ofPeriod: index), let contentStart {
            let text = "PT\(Int64(duration.rounded(.up)))S"
            if let durationValue {
                try editor.insert(text, at: durationValue.lowerBound)
                try editor.remove(durationValue)
            } else {
                try editor.insert(" mediaPresentationDuration=\"\(text)\"", at: contentStart - 1)
            }
        }
        return try editor.edited()
    }
}
