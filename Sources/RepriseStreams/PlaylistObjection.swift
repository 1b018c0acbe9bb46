import HTTPSemantics
import Playlists
package import Reprise

extension PlaylistPlanner {
    package func isDeclaredStream(_ information: ContentInformation?, at url: ResourceURL) -> Bool {
        PlaylistFormat.isStreamDeclared(by: MediaType(information?.mediaType)?.essence, name: url.lastPathComponent)
    }

    package func objection(
        to information: ContentInformation?, beginning bytes: [UInt8]?, at url: ResourceURL
    ) -> RepriseError? {
        let type = MediaType(information?.mediaType)
        if let bytes, PlaylistFormat(of: bytes) != nil { return nil }
        guard isDeclaredStream(information, at: url) else {
            let isPage = type?.isHTML == true || bytes.map(WebPage.begins) == true
            return isPage ? WebPage.objection(at: url) : nil
        }
        let place = "in place of the playlist \(url.redacted)"
        if type?.isNotice == true || WebPage.begins(bytes ?? []) {
            return .logIn(.notDownloadable, "The origin sent a page or an error \(place)")
        }
        guard let bytes else { return nil }
        guard !bytes.isEmpty else { return RepriseError(.notDownloadable, "The origin sent nothing \(place).") }
        if let coding = information?.contentCoding {
            return RepriseError(
                .notDownloadable,
                "The origin sent the playlist \(url.redacted) encoded (Content-Encoding: \(coding)), which was not asked "
                    + "for: it cannot be read.")
        }
        return RepriseError(
            .notDownloadable,
            "The origin sent something else \(place): it begins neither with #EXTM3U nor with an MPD.")
    }
}
