import type { ProviderOrigin } from '../../idps/provider-sessions.sql.ts'
import type { PasscodeOrigin } from '../../passcodes/passcode-origin.ts'
import type { PasscodeAddress } from '../../passcodes/passcodes.fields.ts'
import type { CodeProblem } from '../../passcodes/rejected-code.ts'
import type { SessionProof } from '../../sessions/proofs.ts'

/**
 * Why the last input of a page was rejected. It does not depend on whether the address is known; the page has
 * the text.
 */
export type InputRejection = {
  page: 'email' | 'code' | 'create' | 'passkey' | 'second-factor' | 'recovery' | 'passkey-setup' | 'terms'
  reason:
    | 'address'
    | 'country'
    | CodeProblem
    | 'attempts'
    | 'passkey'
    | 'passkeyChanged'
    | 'totp'
    | 'recovery'
    | 'fields'
    | 'terms'
    | 'closed'
    | 'locked'
    | `provider-${'canceled' | 'misconfigured' | 'rejected' | 'unavailable'}`
  /** The entered address. */
  entered?: string
  /** The entered fields of a new account, and what is wrong with each. */
  values?: Record<string, string>
  issues?: Record<string, string>
  /** After too many attempts: when the next one is allowed. */
  retryAt?: string
  /** The id of a passkey that does not exist any more, for its provider. */
  unknownPasskey?: string
  /** The name of the identity provider at which the sign-in failed. */
  provider?: string
}

/** A proven identity at a provider, and the updatedAt of the provider at which it was proven. */
export type PendingLink = {
  idpId: string
  provider: string
  identity: { issuer: string; subject: string; claims: Record<string, unknown> }
  provenAt: string
  /** Its tokens, encrypted, if the provider keeps them. */
  tokens?: string | null
}

/** A first proof, whose it is, and the session at an identity provider that it came from. */
export type FirstProof = { userId: string; proof: SessionProof; provider?: ProviderOrigin }

/** The user's progress through the hosted pages; stored as JSON. */
export type Progress = {
  /** The address to verify, as entered, and when its passcode was requested. */
  address?: string
  sentAt?: string
  /** It replaced an earlier one. */
  isResent?: boolean
  /** Where the passcode is to be entered, and its number of digits. */
  origin?: PasscodeOrigin
  digits?: 6 | 10
  /** How many codes for the address were counted in the limits. */
  codes?: number
  /** The address that this browser has proven and that had no user: an account can be created. */
  provenAddress?: PasscodeAddress
  /** The session that this request started or continued, and the time of its first proof for this request. */
  sessionId?: string
  signedInAt?: string
  /** The proof of a user who presents a second factor next. There is no session for it yet. */
  firstProof?: FirstProof
  /** The key of the authenticator app that the user sets up, sealed. */
  pendingTotp?: string
  /** The new recovery codes, sealed, until the user has saved them. */
  recoveryCodes?: string
  /** The session that the user chose among those of the browser. */
  chosenSession?: string
  /** The session whose user consented during this request. */
  consentedIn?: string
  /** How many passkeys were presented: each one needs a challenge of its own. */
  passkeyAttempts?: number
  /** A passkey that was presented and that its user replaces after a sign-in by another method. */
  changedPasskey?: { id: string; userId: string }
  /** The browser was sent to an identity provider: it is not sent there again without a choice of the user. */
  isLed?: boolean
  /** A proven identity without a link: it is linked to the user who signs in by another method. */
  pendingLink?: PendingLink
  /** The attempt to sign in at an identity provider; removed when the provider answers. */
  provider?: { id: string; idpId: string; since: string | null }
  /** The user chose to stay signed in when the browser is closed. */
  staySignedIn?: boolean
  /** The browser can create passkeys on its device, says the script of the first page. */
  canCreatePasskey?: boolean
  /** The session whose user is offered to create a passkey. */
  passkeyOfferedIn?: string
  /** The user chose to sign in as someone else: no address is prefilled. */
  isAnother?: boolean
  /** Shown once. */
  refusal?: InputRejection
}
