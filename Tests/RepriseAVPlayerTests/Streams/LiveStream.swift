#if REPRISE_AVFOUNDATION_STAND_IN
    import Foundation
    import HTTPTypes
    import RepriseTesting
    import Testing

    /// A live stream at a ``TestOrigin`` that grows by the test's clock: whole segments, or parts of a second each.
    ///
    /// The origin holds requests for what it will have next (rfc8216bis §6.2.5.2).
    final class LiveStream {
        static let targetDuration = 4
        static let variants = 2
        /// Segments in a list.
        private static let window = 10
        /// Delta updates leave out older segments, in seconds: at least six target durations (rfc8216bis §4.4.3.8).
        private static let skipBoundary = 24
        /// Parts for which blocking requests are answered though they exist.
        private static let partsAskedFor = 12
        /// Segments that are there at the beginning.
        private static let firstSegments = 6

        private let origin: TestOrigin
        private let folder: String
        let hasParts: Bool
        /// The origin makes delta updates.
        let hasDeltas: Bool
        /// Parts of a second that exist by now.
        private(set) var edge = 0
        private var held: Set<String> = []
        /// Files of which a player gave up its request.
        private var givenUp: Set<String> = []
        /// The origin answers 503 to requests for lists.
        private(set) var isFailing = false

        init(at folder: String, of origin: TestOrigin, hasParts: Bool, hasDeltas: Bool) {
            (self.folder, self.origin, self.hasParts, self.hasDeltas) = (folder, origin, hasParts, hasDeltas)
            let lists = (0..<Self.variants).map { "#EXT-X-STREAM-INF:BANDWIDTH=\(1000 * ($0 + 1))\nv\($0).m3u8\n" }
            set(Array("#EXTM3U\n\(lists.joined())".utf8), at: "main.m3u8", isList: true)
            edge = Self.firstSegments * Self.targetDuration
            for number in 0..<Self.firstSegments { publishSegment(number) }
            publishNews()
        }

        var url: URL? { URL(string: origin.url("\(folder)/main.m3u8")) }

        /// A second later.
        func advance() {
            edge += 1
            if edge.isMultiple(of: Self.targetDuration) { publishSegment(edge / Self.targetDuration - 1) }
            publishNews()
        }

        /// Whether the origin holds requests for the file of this name, query included.
        func holds(_ name: String) -> Bool { held.contains(name) }

        /// A player has given up its request for the file of this name.
        func giveUp(_ name: String) { givenUp.insert(name) }

        /// Has the origin refuse lists, or have them again.
        func fail(_ isFailing: Bool) {
            self.isFailing = isFailing
            publishLists()
        }

        // MARK: - Media

        /// Media of a segment, which its parts make up.
        static func bytes(variant: Int, segment: Int, part: Int? = nil) -> [UInt8] {
            let length = Int64(2000 + 700 * (segment % 5) + variant)
            let count = Int64(targetDuration)
            let range = part.map { length * Int64($0) / count..<length * Int64($0 + 1) / count } ?? 0..<length
            return TestPattern.bytes(in: range, seed: UInt64(segment * variants + variant + 1))
        }

        static func segmentName(_ variant: Int, _ segment: Int) -> String { "s\(variant)-\(segment).mp4" }
        static func partName(_ variant: Int, _ part: LiveList.Part) -> String {
            "p\(variant)-\(part.segment).\(part.part).mp4"
        }

        private static func part(_ index: Int) -> LiveList.Part {
            LiveList.Part(segment: index / targetDuration, part: index % targetDuration)
        }

        private func publishSegment(_ number: Int) {
            for variant in 0..<Self.variants {
                set(Self.bytes(variant: variant, segment: number), at: Self.segmentName(variant, number))
            }
        }

        private func publishNews() {
            publishLists()
            guard hasParts else { return }
            for variant in 0..<Self.variants {
                // What was hinted exists now, and what comes next is hinted.
                release(Self.partName(variant, Self.part(edge - 1)))
                let next = Self.part(edge)
                let name = Self.partName(variant, next)
                hold(name)
                set(Self.bytes(variant: variant, segment: next.segment, part: next.part), at: name)
            }
        }

        // MARK: - Lists

        /// The list's URL that waits for a part, of a delta update or of the whole list.
        static func blocking(_ list: String, _ part: LiveList.Part, isDelta: Bool) -> String {
            "\(list)?_HLS_msn=\(part.segment)&_HLS_part=\(part.part)" + (isDelta ? "&_HLS_skip=YES" : "")
        }

        private func publishLists() {
            for variant in 0..<Self.variants {
                let name = "v\(variant).m3u8"
                set(Array(text(variant, upTo: edge).utf8), at: name, isList: true)
                guard hasParts else { continue }
                for isDelta in hasDeltas ? [false, true] : [false] { publishBlocking(variant, name, isDelta) }
            }
        }

        private func publishBlocking(_ variant: Int, _ name: String, _ isDelta: Bool) {
            // What is there by now is answered at once, with the list of now.
            for index in edge - Self.partsAskedFor..<edge {
                let past = Self.blocking(name, Self.part(index), isDelta: isDelta)
                set(Array(text(variant, upTo: edge, isDelta: isDelta).utf8), at: past, isList: true)
                release(past)
            }
            let next = Self.blocking(name, Self.part(edge), isDelta: isDelta)
            hold(next)
            set(Array(text(variant, upTo: edge + 1, isDelta: isDelta).utf8), at: next, isList: true)
        }

        private func text(_ variant: Int, upTo edge: Int, isDelta: Bool = false) -> String {
            let complete = edge / Self.targetDuration
            let first = max(0, complete - Self.window)
            var lines = [
                "#EXTM3U", "#EXT-X-VERSION:9", "#EXT-X-TARGETDURATION:\(Self.targetDuration)",
                "#EXT-X-MEDIA-SEQUENCE:\(first)",
            ]
            if hasParts {
                let skip = hasDeltas ? ",CAN-SKIP-UNTIL=\(Self.skipBoundary)" : ""
                lines += [
                    "#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=3\(skip)",
                    "#EXT-X-PART-INF:PART-TARGET=1",
                ]
            }
            let skipped = isDelta ? max(0, (edge - Self.skipBoundary) / Self.targetDuration - first) : 0
            if skipped > 0 { lines.append("#EXT-X-SKIP:SKIPPED-SEGMENTS=\(skipped)") }
            for number in first + skipped..<complete {
                if hasParts, number >= complete - 2 {
                    lines += (0..<Self.targetDuration).map { partLine(variant, number * Self.targetDuration + $0) }
                }
                lines += ["#EXTINF:\(Self.targetDuration),", Self.segmentName(variant, number)]
            }
            if hasParts {
                lines += (complete * Self.targetDuration..<edge).map { partLine(variant, $0) }
                lines.append("#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"\(Self.partName(variant, Self.part(edge)))\"")
            }
            return lines.joined(separator: "\n") + "\n"
        }

        private func partLine(_ variant: Int, _ index: Int) -> String {
            "#EXT-X-PART:DURATION=1,URI=\"\(Self.partName(variant, Self.part(index)))\""
        }

        // MARK: - The origin

        private func set(_ bytes: [UInt8], at name: String, isList: Bool = false) {
            let isRefused = isList && isFailing
            let personality = TestOrigin.Personality {
                if isRefused { ($0.status, $0.fields) = (503, [.retryAfter: "1"]) }
            }
            origin.set(
                TestOrigin.Resource(
                    .bytes(bytes), mediaType: isList ? "application/vnd.apple.mpegurl" : "video/mp4",
                    etag: isList ? nil : "\"\(name)\"", lastModified: nil, personality: personality),
                at: "\(folder)/\(name)")
        }

        private func hold(_ name: String) {
            guard held.insert(name).inserted else { return }
            origin.holdHeads("\(folder)/\(name)")
        }

        private func release(_ name: String) {
            guard held.remove(name) != nil else { return }
            origin.release("\(folder)/\(name)")
        }

        /// Releases all requests.
        func end() { for name in held { origin.release("\(folder)/\(name)") } }

        /// Each file was sent once to both players, unless its first request was given up.
        func checkOrigin() async {
            let snapshot = await origin.settledSnapshot()
            for variant in 0..<Self.variants {
                for index in 0...edge {
                    let part = Self.part(index)
                    for name in [Self.segmentName(variant, part.segment), Self.partName(variant, part)]
                    where !givenUp.contains(name) {
                        let count = snapshot["\(folder)/\(name)"].requests.count { $0.bodyBytesSent > 0 }
                        #expect(count <= 1, "\(folder)/\(name)")
                    }
                }
            }
        }
    }
#endif
