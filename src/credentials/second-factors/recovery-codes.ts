import { randomBytes } from 'node:crypto'
import type { Ctx } from '../../context/context.ts'
import { newId, sha256 } from '../../core/crypto.ts'
import { Conflict } from '../../core/errors.ts'
import { cleanTypedCode } from '../../core/typed-text.ts'
import { listCredentialTypes, type NewSecondFactor, storeSecondFactor } from './second-factors.ts'

const CODES = 10
/** Characters of a code: 80 random bits. A guess is hopeless, so the hash needs no key and no salt. */
const CODE_LENGTH = 16
const GROUP_LENGTH = 4
/** Crockford's base32: no letter looks like another letter or a digit. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'

const createRecoveryCode = (): string =>
  [...randomBytes(CODE_LENGTH)].map((byte) => ALPHABET[byte % ALPHABET.length]).join('')

/** A code as it is shown, in groups. */
const formatRecoveryCode = (code: string): string =>
  (code.match(new RegExp(`.{${GROUP_LENGTH}}`, 'g')) ?? []).join('-')

/** A code as it was typed: any case, with or without hyphens, and letters that were misread. */
const normalizeRecoveryCode = (code: string): string =>
  cleanTypedCode(code).toLowerCase().replaceAll('o', '0').replace(/[il]/g, '1')

/** Hashes a recovery code for storage. The hash includes the user, so that equal codes of two users differ. */
export const hashRecoveryCode = (tenant: string, userId: string, code: string): Buffer<ArrayBuffer> =>
  sha256(['recovery-code', tenant, userId, normalizeRecoveryCode(code)].join('\n'))

export type RecoveryCodes = { credentialId: string; codes: string[] }

/** Generates recovery codes: as they are stored, and as they are shown. */
export function generateRecoveryCodes(
  tenant: string,
  userId: string,
): { factor: NewSecondFactor; codes: string[] } {
  const codes = Array.from({ length: CODES }, createRecoveryCode)
  const codeHashes = codes.map((code) => hashRecoveryCode(tenant, userId, code))
  return {
    factor: { id: newId('cred'), userId, type: 'recovery-codes', secret: null, lastStep: null, codeHashes },
    codes: codes.map(formatRecoveryCode),
  }
}

/**
 * Creates the recovery codes of a user, which are shown once. They replace earlier ones, which are no longer
 * accepted. Throws Conflict when the user has no authenticator app, or has codes and `replace` is not true;
 * NotFound and UserLocked.
 */
export async function createRecoveryCodes(
  ctx: Ctx,
  userId: string,
  { replace }: { replace: boolean },
  now = new Date(),
): Promise<RecoveryCodes> {
  const { factor, codes } = generateRecoveryCodes(ctx.tenant, userId)
  await storeSecondFactor(ctx, factor, now, async (tx) => {
    const types = await listCredentialTypes(tx, userId)
    if (!types.includes('totp')) throw new Conflict([], 'Set up an authenticator app first.')
    if (types.includes('recovery-codes') && !replace)
      throw new Conflict([
        { field: 'replace', description: 'must be true: there are recovery codes already' },
      ])
  })
  return { credentialId: factor.id, codes }
}
