import type { PasswordHash } from './password-hash.ts'

/** The mark of a user whose password the proofUrl of the tenant judges. */
export const ASKED_BY_URL = { kind: 'url' } as const

/** What is stored of a user's old password, sealed. */
export type StoredProof = PasswordHash | typeof ASKED_BY_URL
