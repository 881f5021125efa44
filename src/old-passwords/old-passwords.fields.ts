import * as z from 'zod'
import { integer, oneOf, text } from '../schema/input-shapes.ts'
import { ENCODINGS, HASH_ALGORITHMS, type HashAlgorithm, parseHash, UnreadableHash } from './parse-hash.ts'
import { DIGESTS, findHashIssue, type PasswordHash } from './password-hash.ts'
import { ASKED_BY_URL, type StoredProof } from './stored-proof.ts'

const ALGORITHMS = Object.keys(HASH_ALGORITHMS) as [HashAlgorithm, ...HashAlgorithm[]]
const MAX_VALUE_CHARS = 4096
const MAX_SALT_CHARS = 1024
const MAX_NUMBER = 10_000_000

const hash = z
  .strictObject(
    {
      algorithm: oneOf(ALGORITHMS).meta({
        description: `The algorithm. ${ALGORITHMS.map((name) => `${name}: ${HASH_ALGORITHMS[name]}`).join(' ')}`,
        example: 'bcrypt',
      }),
      value: text(MAX_VALUE_CHARS).meta({
        description: 'The hash, as the system exported it.',
        example: '$2b$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy',
      }),
      encoding: oneOf(['base64', 'hex'])
        .optional()
        .meta({ description: 'Of the value: hex by default for md5 and sha, base64 otherwise.' }),
      salt: text(MAX_SALT_CHARS)
        .optional()
        .meta({ description: 'The salt, where the value does not have it.' }),
      saltEncoding: oneOf(ENCODINGS)
        .optional()
        .meta({ description: 'Of the salt: text by default for md5 and sha, base64 otherwise.' }),
      saltPosition: oneOf(['prefix', 'suffix'])
        .optional()
        .meta({ description: 'For md5 and sha: before the password, which is the default, or after it.' }),
      digest: oneOf(DIGESTS).optional().meta({ description: 'For pbkdf2: sha1, sha256 or sha512.' }),
      iterations: integer(1, MAX_NUMBER).optional().meta({ description: 'For pbkdf2.' }),
      cost: integer(2, MAX_NUMBER).optional().meta({ description: 'For scrypt: N.' }),
      blockSize: integer(1, 1024).optional().meta({ description: 'For scrypt: r, 8 by default.' }),
      parallelization: integer(1, 1024).optional().meta({ description: 'For scrypt: p, 1 by default.' }),
      saltSeparator: text(MAX_SALT_CHARS)
        .optional()
        .meta({ description: 'For firebase-scrypt: base64_salt_separator of the project.' }),
      signerKey: text(MAX_SALT_CHARS)
        .optional()
        .meta({ description: 'For firebase-scrypt: base64_signer_key of the project.' }),
      rounds: integer(1, 1024)
        .optional()
        .meta({ description: 'For firebase-scrypt: rounds of the project.' }),
      memoryCost: integer(1, 30)
        .optional()
        .meta({ description: 'For firebase-scrypt: mem_cost of the project.' }),
    },
    'must be an object',
  )
  .transform((given, context): PasswordHash => {
    const reject = ({ member, description }: { member: string; description: string }) => {
      context.addIssue({ code: 'custom', path: [member], message: description })
      return z.NEVER
    }
    try {
      const parsed = parseHash(given)
      const issue = findHashIssue(parsed)
      return issue ? reject(issue) : parsed
    } catch (error) {
      if (error instanceof UnreadableHash) return reject(error.issue)
      throw error
    }
  })
  .meta({
    id: 'PasswordHash',
    description: 'The hash of a password in the system that a user comes from.',
  })

/** What proves the account of a user in the system that the user comes from. */
export const accountProof = z
  .strictObject(
    {
      hash: hash.optional().meta({ description: 'The hash of the password there.' }),
      url: z
        .literal(true, 'must be true')
        .optional()
        .meta({ description: 'The proofUrl of the tenant is asked, since the system there gives no hash.' }),
    },
    'must be an object',
  )
  .transform(({ hash, url }, context): StoredProof => {
    if (hash && !url) return hash
    if (url && !hash) return ASKED_BY_URL
    context.addIssue({ code: 'custom', message: 'must have either hash or url' })
    return z.NEVER
  })
  .optional()
  .meta({
    id: 'AccountProof',
    description:
      'The password of the user in the source system, with which the user signs in once until the migrationEndsAt of the tenant. It is never returned.',
  })
