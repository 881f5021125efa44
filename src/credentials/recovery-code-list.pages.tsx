import type { VNode } from 'preact'

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
    <p class="hint">Print them, or keep them in a password manager. We don’t show them again.</p>
  </>
)
