import type { VNode } from 'preact'
import { COPY_SCRIPT_PATH } from '../../pages/assets/copy-script.ts'
import { PageScript } from '../../pages/parts/page-script.pages.tsx'
import { markSecret } from '../../pages/parts/page-secret.pages.tsx'
import { Hint, Message, useWords } from '../../pages/parts/words.pages.tsx'

/** New recovery codes, which are shown once. */
export const RecoveryCodeList = ({ codes }: { codes: readonly string[] }): VNode => {
  markSecret()
  return (
    <>
      {/* From right to left, the parts of a code that ends in digits would change places. */}
      <ul class="recovery-codes" dir="ltr">
        {codes.map((code) => (
          <li key={code}>
            <code>{code}</code>
          </li>
        ))}
      </ul>
      <Hint of="setup.codesHint" />
      <div class="row">
        <div id="copy" hidden>
          <button type="button" class="secondary">
            <Message of="setup.codesCopy" />
          </button>
        </div>
        <a
          class="button secondary"
          href={`data:text/plain;charset=utf-8,${encodeURIComponent(`${codes.join('\n')}\n`)}`}
          download="recovery-codes.txt"
        >
          <Message of="setup.codesDownload" />
        </a>
      </div>
      <p class="hint" id="copied" role="status" data-text={useWords().text('setup.codesCopied')} />
      <PageScript path={COPY_SCRIPT_PATH} />
    </>
  )
}
