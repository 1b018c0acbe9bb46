#if REPRISE_AVFOUNDATION_STAND_IN
    /// Kinds of files.
    extension ScriptResource {
        static func mp3(_ name: String, length: Int64) -> ScriptResource {
            ScriptResource(
                name: name, mime: "audio/mpeg", uti: "public.mp3", pathExtension: "mp3", head: "ID3", length: length)
        }

        static func m4a(_ name: String, length: Int64) -> ScriptResource {
            ScriptResource(
                name: name, mime: "audio/x-m4a", uti: "com.apple.m4a-audio", pathExtension: "m4a", head: "ftyp-M4A",
                length: length)
        }

        static func mp4(_ name: String, length: Int64) -> ScriptResource {
            ScriptResource(
                name: name, mime: "video/mp4", uti: "public.mpeg-4", pathExtension: "mp4", head: "ftyp-isom",
                length: length)
        }

        static func wav(_ name: String, length: Int64) -> ScriptResource {
            ScriptResource(
                name: name, mime: "audio/x-wav", uti: "com.microsoft.waveform-audio", pathExtension: "wav",
                head: "RIFF-WAVE", length: length)
        }

        /// FLAC that only its first bytes show: no media type, and the extension of a script.
        static func untypedFLAC(_ name: String, length: Int64) -> ScriptResource {
            ScriptResource(
                name: name, mime: nil, uti: "org.xiph.flac", pathExtension: "php", head: "fLaC", length: length)
        }

        static func playlist(_ name: String, pathExtension: String = "m3u8", length: Int64) -> ScriptResource {
            ScriptResource(
                name: name, mime: "application/vnd.apple.mpegurl", uti: "public.m3u-playlist",
                pathExtension: pathExtension, head: "#EXTM3U", length: length)
        }

        static func segment(_ name: String, length: Int64) -> ScriptResource {
            ScriptResource(
                name: name, mime: "video/mp2t", uti: "public.mpeg-2-transport-stream", pathExtension: "ts", head: "",
                length: length)
        }

        static func contentKey(_ name: String, length: Int64) -> ScriptResource {
            ScriptResource(
                name: name, mime: "application/octet-stream", uti: "com.apple.streamingkeydelivery.contentkey",
                pathExtension: "key", head: "", length: length)
        }
    }
#endif
