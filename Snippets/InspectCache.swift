// Inspects a cache directory, even while another process has the cache open.

import Reprise

let inspector = try CacheInspector(directory: "media-cache")
for entry in try inspector.entries() {
    print(entry.url, entry.storedBytes, entry.isComplete ? "complete" : "with holes")
    for span in try inspector.storedRanges(of: entry) { print(" ", span) }
}
