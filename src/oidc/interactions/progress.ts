import type { ProviderOrigin } from '../../idps/provider/provider-sessions.ts'
import type { MessageKey } from '../../languages/messages.ts'
import type { PasscodeAddress } from '../../passcodes/passcodes.fields.ts'
import type { SessionProof } from '../../sessions/proofs.ts'

/**
 * The pages of a sign-in by their names, which are the last segments of their paths. The folder of a sign-in method adds
 * its pages: `declare module`.
 */
export interface SignInPages {
  email: true
  create: true
  select: true
  terms: true
  organization: true
  consent: true
}
export type SignInPageName = keyof SignInPages

/** The messages `problem.*` of the catalogs, and an input that is not an address. */
type RejectionReason =
  | 'address'
  | { [Key in MessageKey]: Key extends `problem.${infer Reason}` ? Reason : never }[MessageKey]

/**
 * Why the last input of a page was rejected. It does not depend on whether the address is known; the page has
 * the text.
 */
export type InputRejection = {
  page: SignInPageName
  reason: RejectionReason
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

/**
 * The user's progress through the hosted pages; stored as JSON. The folder of a sign-in method adds its members:
 * `declare module`.
 */
export interface Progress {
  /** The address that this browser has proven and that had no user: an account can be created. */
  provenAddress?: PasscodeAddress
  /** The session that this request started or continued, and the time of its first proof for this request. */
  sessionId?: string
  signedInAt?: string
  /** The proof of a user who presents a second factor next. There is no session for it yet. */
  firstProof?: FirstProof
  /** The session that the user chose among those of the browser. */
  chosenSession?: string
  /** The organization that the user chose. */
  organizationId?: string
  /** The session whose user consented during this request. */
  consentedIn?: string
  /** A proven identity without a link: it is linked to the user who signs in by another method. */
  pendingLink?: PendingLink
  /** The user chose to stay signed in when the browser is closed. */
  staySignedIn?: boolean
  /** The user chose to sign in as someone else: no address is prefilled. */
  isAnother?: boolean
  /** Shown once. */
  refusal?: InputRejection
}
