"""Verbs that tool names and descriptions begin with or contain."""

from __future__ import annotations

from typing import Final

from scoring.text.words import parse_word_list, split_tokens

NAMING: Final = parse_word_list(
    """
get create update delete list search find fetch query lookup add remove set edit modify check validate verify
analyze inspect run execute process send submit read write save load export import move copy rename zip unzip
compress decompress extract archive print echo log show display render open close init initialize connect
disconnect sample test try ping start stop enable disable generate convert transform format parse sync refresh
clear reset count calculate compare merge split filter sort group map reduce apply call invoke trigger notify
publish subscribe download upload install uninstall register unregister authenticate authorize revoke cancel
abort terminate kill clone fork branch checkout commit push pull revert rollback deploy build compile bundle
minify optimize lint scan detect monitor watch track record replay undo redo backup restore encrypt decrypt
sign hash encode decode serialize deserialize sanitize escape unescape wrap unwrap bind unbind attach detach
mount unmount lock unlock grant deny allow block accept reject approve request respond handle dispatch route
forward redirect proxy cache flush purge invalidate expire extend renew schedule queue dequeue enqueue pop
peek poll wait sleep pause resume retry repeat loop iterate traverse visit walk crawl scrape harvest collect
gather aggregate summarize report dump stream pipe tee broadcast multicast unicast
    """
)
"""Verbs that say in a tool's name what it does."""

ACTING: Final = parse_word_list(
    """
create creates creating read reads reading update updates updating delete deletes deleting get gets getting
set sets setting list lists listing search searches searching find finds finding fetch fetches fetching
retrieve retrieves retrieving send sends sending submit submits submitting execute executes executing run runs
running process processes processing generate generates generating convert converts converting transform
transforms transforming validate validates validating check checks checking verify verifies verifying analyze
analyzes analyzing calculate calculates calculating compute computes computing download downloads downloading
upload uploads uploading import imports importing export exports exporting connect connects connecting
disconnect disconnects disconnecting start starts starting stop stops stopping enable enables enabling disable
disables disabling configure configures configuring initialize initializes initializing query queries querying
filter filters filtering sort sorts sorting merge merges merging split splits splitting extract extracts
extracting parse parses parsing format formats formatting render renders rendering display displays displaying
show shows showing hide hides hiding open opens opening close closes closing save saves saving load loads
loading store stores storing remove removes removing add adds adding insert inserts inserting append appends
appending prepend prepends prepending copy copies copying move moves moving rename renames renaming
authenticate authenticates authenticating authorize authorizes authorizing encrypt encrypts encrypting decrypt
decrypts decrypting compress compresses compressing decompress decompresses decompressing install installs
installing uninstall uninstalls uninstalling deploy deploys deploying build builds building compile compiles
compiling test tests testing debug debugs debugging monitor monitors monitoring track tracks tracking log logs
logging record records recording measure measures measuring count counts counting sum sums summing average
averages averaging aggregate aggregates aggregating group groups grouping join joins joining link links
linking unlink unlinks unlinking attach attaches attaching detach detaches detaching sync syncs syncing
synchronize synchronizes synchronizing refresh refreshes refreshing reload reloads reloading reset resets
resetting clear clears clearing clean cleans cleaning purge purges purging backup backups backing restore
restores restoring recover recovers recovering publish publishes publishing unpublish unpublishes unpublishing
schedule schedules scheduling cancel cancels cancelling approve approves approving reject rejects rejecting
accept accepts accepting decline declines declining notify notifies notifying alert alerts alerting warn warns
warning report reports reporting summarize summarizes summarizing describe describes describing explain
explains explaining provide provides providing return returns returning yield yields yielding emit emits
emitting broadcast broadcasts broadcasting stream streams streaming pipe pipes piping route routes routing
redirect redirects redirecting forward forwards forwarding proxy proxies proxying wrap wraps wrapping unwrap
unwraps unwrapping encode encodes encoding decode decodes decoding serialize serializes serializing
deserialize deserializes deserializing map maps mapping reduce reduces reducing flatten flattens flattening
normalize normalizes normalizing sanitize sanitizes sanitizing escape escapes escaping unescape unescapes
unescaping trim trims trimming pad pads padding truncate truncates truncating expand expands expanding
collapse collapses collapsing invoke invokes invoking call calls calling trigger triggers triggering fire
fires firing raise raises raising throw throws throwing catch catches catching handle handles handling manage
manages managing control controls controlling coordinate coordinates coordinating orchestrate orchestrates
orchestrating write writes writing modify modifies modifying
    """
)
"""Forms of verbs that say in a description what a tool does."""

OPENING: Final = parse_word_list(
    """
create creates get gets list lists update updates delete deletes add adds remove removes find finds search searches
send sends read reads write writes execute executes run runs check checks validate validates fetch fetches retrieve
retrieves return returns set sets start starts stop stops generate generates calculate calculates process processes
load loads save saves enable enables
    """
)
"""Forms of verbs that a description may begin with when it is compared with its siblings. Ours: see `clauses`."""


def leading_verb(name: str) -> str:
    """The first word of a name, or the second when the first is not a verb, such as a product name."""
    first, second, *_ = (*split_tokens(name), "", "")
    return first if first in NAMING else second if second in NAMING else first
