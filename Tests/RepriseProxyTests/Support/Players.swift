import Foundation
import RepriseTesting
import TestSupport
import Testing

/// Real players, and their script in the tests: play the start, seek to 60 %, seek back to 20 %, stop.
enum Players {
    static let ffmpeg = ChildProcess.path(of: "ffmpeg")
    static let mpv = ChildProcess.path(of: "mpv")

    /// Where the three parts begin, in seconds.
    static let places = [0, 0.6, 0.2].map { $0 * MediaFile.duration }

    /// A player did not complete its script.
    struct Failure: Error { let player: String, url: String, outcome: ChildProcess.Outcome }

    // MARK: - ffmpeg

    /// Decodes two seconds at each place, each in a separate run; returns the checksums of all frames.
    static func ffmpegScript(_ url: String) async throws -> [String] {
        var frames: [String] = []
        for place in places {
            frames += try await ffmpegFrames(url, before: ["-ss", "\(place)"], after: ["-t", "2"])
        }
        return frames
    }

    /// Decodes `url`; returns a line with the checksum of each frame.
    static func ffmpegFrames(_ url: String, before: [String] = [], after: [String] = []) async throws -> [String] {
        let arguments = ["-v", "error", "-nostdin"] + before + ["-i", url] + after + ["-f", "framemd5", "-"]
        let outcome = try await ChildProcess.run(try #require(ffmpeg), arguments)
        guard outcome.exit == .status(0) else { throw Failure(player: "ffmpeg", url: url, outcome: outcome) }
        return outcome.output.split(separator: "\n").map(String.init).filter { !$0.hasPrefix("#") }
    }

    // MARK: - mpv

    /// Plays 0.3 s at each place; returns where each part began and ended, in seconds.
    static func mpvScript(_ url: String) async throws -> [ClosedRange<Double>] {
        let directory = try TemporaryDirectory(prefix: "reprise-mpv")
        defer { directory.remove() }
        let script = try directory.write(Array(mpvLua.utf8), to: "script.lua")
        let arguments = [
            "--no-config", "--vo=null", "--ao=null", "--really-quiet", "--msg-level=all=error", "--script=\(script)",
            url,
        ]
        let outcome = try await ChildProcess.run(try #require(mpv), arguments)
        let lines = outcome.output.split(separator: "\n").filter { $0.hasPrefix("played ") }
        let parts = lines.compactMap { line -> ClosedRange<Double>? in
            let numbers = line.split(separator: " ").dropFirst().compactMap { Double($0) }
            return numbers.count == 2 && numbers[0] <= numbers[1] ? numbers[0]...numbers[1] : nil
        }
        guard outcome.exit == .status(0), parts.count == places.count else {
            throw Failure(player: "mpv", url: url, outcome: outcome)
        }
        return parts
    }

    /// Continues when playback has advanced by 0.3 s, according to mpv's events.
    ///
    /// The first part lasts until the last place has been read ahead, the last part until all of the file has. mpv has
    /// then requested everything that it can want, however fast it gets it the next time.
    private static let mpvLua = """
        local places, index, start = { \(places.map { "\($0)" }.joined(separator: ", ")) }, 1, nil
        local position, ranges = nil, {}
        local function has_read(place)
            return #ranges > 0 and ranges[1]["start"] < 1 and ranges[1]["end"] > place
        end
        local function step()
            if not start or not position or position < start + 0.3 then return end
            if index == 1 and not has_read(places[#places] + 1) then return end
            if index == #places and not has_read(\(MediaFile.duration - 1)) then return end
            io.write(string.format("played %.3f %.3f\\n", start, position))
            io.flush()
            start = nil
            index = index + 1
            if places[index] then
                mp.commandv("seek", places[index], "absolute")
            else
                mp.commandv("quit", "0")
            end
        end
        mp.register_event("playback-restart", function()
            start = mp.get_property_number("time-pos")
        end)
        mp.observe_property("time-pos", "number", function(_, value)
            position = value
            step()
        end)
        mp.observe_property("demuxer-cache-state", "native", function(_, state)
            ranges = state and state["seekable-ranges"] or {}
            table.sort(ranges, function(a, b) return a["start"] < b["start"] end)
            step()
        end)
        """
}
