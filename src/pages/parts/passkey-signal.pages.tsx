import type { VNode } from 'preact'
import { PASSKEY_SIGNAL_SCRIPT_PATH } from '../assets/passkey-signal-script.ts'

/** AllAcceptedCredentialsOptions (WebAuthn Level 3, section 5.1.10.3). The ids are base64url. */
export type AcceptedPasskeys = { rpId: string; userId: string; allAcceptedCredentialIds: string[] }

/**
 * Tells the browser which passkeys of the user are accepted, so that it stops offering others. For a page of a
 * user who has just signed in, which runs scripts.
 */
export const PasskeySignal = ({ accepted }: { accepted?: AcceptedPasskeys | null }): VNode | null =>
  accepted ? <script src={PASSKEY_SIGNAL_SCRIPT_PATH} defer data-accepted={JSON.stringify(accepted)} /> : null
