# A formula for Homebrew. Untested: it was written without a Mac. The release workflow replaces what is between @.
class Reprise < Formula
  desc "Cache for remote audio and video that keeps every byte that passes"
  homepage "https://github.com/@REPOSITORY@"
  url "https://github.com/@REPOSITORY@/archive/refs/tags/v@VERSION@.tar.gz"
  sha256 "@SHA256@"
  license "MIT"

  # Swift 6.3.
  depends_on xcode: ["26.4", :build]
  depends_on macos: :sequoia

  def install
    # The sandbox of a formula has one of its own around it, and they do not nest.
    system "swift", "build", "--disable-sandbox", "-c", "release", "-Xswiftc", "-enforce-exclusivity=unchecked",
           "--product", "reprise"
    bin.install ".build/release/reprise"
    generate_completions_from_executable(bin/"reprise", "--generate-completion-script")
  end

  service do
    run [opt_bin/"reprise", "serve"]
    keep_alive true
    log_path var/"log/reprise.log"
    error_log_path var/"log/reprise.log"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/reprise --version")
    assert_match "Nothing is stored", shell_output("#{bin}/reprise list --cache-dir #{testpath}/cache")
  end
end
