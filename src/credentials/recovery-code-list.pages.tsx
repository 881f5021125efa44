import type { VNode } from 'preact'
import { Message } from '../pages/words.pages.tsx'

/** New recovery codes, which are shown once. */
export const RecoveryCodeList = ({ codes }: { codes: readonly string[] }): VNode => (
  <>
    <ul class="recovery-codes">
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
