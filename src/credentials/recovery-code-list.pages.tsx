import type { VNode } from 'preact'
import { markSecret } from '../pages/page-secret.pages.tsx'
import { Message } from '../pages/words.pages.tsx'

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
      <p class="hint">
        <Message of="setup.codesHint" />
      </p>
    </>
  )
}
