import { bcrypt } from 'hash-wasm'
import { describe, expect, test } from 'vitest'
import { comparePassword } from '../../src/old-passwords/compare-password.ts'
import { accountProof } from '../../src/old-passwords/old-passwords.fields.ts'

const toBase64 = (hex: string, more = ''): string =>
  Buffer.concat([Buffer.from(hex, 'hex'), Buffer.from(more)]).toString('base64')

const SCRYPT =
  'fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b3731622eaf30d92e22a3886ff109279d9830dac727afb94a83ee6d8360cbdfa2cc0640'
const PBKDF2_SHA512 =
  '867f70cf1ade02cff3752599a3a53dc4af34c7a669815ae5d513554e1c8cf252c02d470a285a0501bad999bfe943c08f050235d7d68b1da55e63f73b60a57fce'
const PBKDF2_SHA256 = 'c5e478d59288c841aa530db6845c4c8d962893a001ce4e11a4963873aa98134a'
const SHA1_ABC = 'a9993e364706816aba3e25717850c26c9cd0d89d'
const SHA512_ABC =
  'ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f'

const keycloak = (algorithm: string, iterations: number, hash: string, more = {}): string =>
  JSON.stringify({
    type: 'password',
    secretData: JSON.stringify({
      value: hash,
      salt: Buffer.from('salt').toString('base64'),
      additionalParameters: {},
    }),
    credentialData: JSON.stringify({ algorithm, hashIterations: iterations, additionalParameters: more }),
  })

/** Published vectors: jBCrypt and Openwall, the reference of Argon2, RFC 7914, RFC 6070, Firebase, FIPS 180 and RFC 1321. */
const VECTORS: [name: string, password: string, hash: object][] = [
  [
    'bcrypt 2a',
    'abc',
    { algorithm: 'bcrypt', value: '$2a$06$If6bvum7DFjUnE9p2uDeDu0YHzrHM6tf.iqN8.yx.jNN1ILEf7h0i' },
  ],
  [
    'bcrypt of crypt_blowfish',
    'U*U',
    { algorithm: 'bcrypt', value: '$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW' },
  ],
  [
    'bcrypt 2y',
    'abc',
    { algorithm: 'bcrypt', value: '$2y$06$If6bvum7DFjUnE9p2uDeDu0YHzrHM6tf.iqN8.yx.jNN1ILEf7h0i' },
  ],
  [
    'argon2id',
    'password',
    {
      algorithm: 'argon2',
      value: '$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4',
    },
  ],
  [
    'argon2i',
    'password',
    {
      algorithm: 'argon2',
      value: '$argon2i$v=19$m=256,t=2,p=1$c29tZXNhbHQ$iekCn0Y3spW+sCcFanM2xBT63UP2sghkUoHLIUpWRS8',
    },
  ],
  [
    'scrypt',
    'password',
    {
      algorithm: 'scrypt',
      value: toBase64(SCRYPT),
      salt: 'NaCl',
      saltEncoding: 'text',
      cost: 1024,
      blockSize: 8,
      parallelization: 16,
    },
  ],
  [
    'encoded scrypt',
    'password',
    { algorithm: 'scrypt', value: `$scrypt$ln=10,r=8,p=16$TmFDbA$${toBase64(SCRYPT).replace(/=+$/, '')}` },
  ],
  [
    'scrypt of Firebase',
    'user1password',
    {
      algorithm: 'firebase-scrypt',
      value: 'lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ==',
      salt: '42xEC+ixf3L2lw==',
      saltSeparator: 'Bw==',
      signerKey: 'jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==',
      rounds: 8,
      memoryCost: 14,
    },
  ],
  [
    'PBKDF2 with SHA-1',
    'password',
    {
      algorithm: 'pbkdf2',
      digest: 'sha1',
      iterations: 4096,
      salt: 'salt',
      saltEncoding: 'text',
      value: '4b007901b765489abead49d926f721d065a429c1',
      encoding: 'hex',
    },
  ],
  [
    'PBKDF2 of Django',
    'password',
    { algorithm: 'pbkdf2', value: `pbkdf2_sha256$4096$salt$${toBase64(PBKDF2_SHA256)}` },
  ],
  [
    'PBKDF2 of passlib',
    'password',
    {
      algorithm: 'pbkdf2',
      value: `$pbkdf2-sha512$1$c2FsdA$${toBase64(PBKDF2_SHA512).replaceAll('+', '.').replace(/=+$/, '')}`,
    },
  ],
  [
    'PBKDF2 of Keycloak',
    'password',
    { algorithm: 'keycloak', value: keycloak('pbkdf2-sha256', 4096, toBase64(PBKDF2_SHA256)) },
  ],
  [
    'Argon2 of Keycloak',
    'password',
    {
      algorithm: 'keycloak',
      value: JSON.stringify({
        secretData: JSON.stringify({
          value: 'nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4=',
          salt: 'c29tZXNhbHQ=',
        }),
        credentialData: JSON.stringify({
          algorithm: 'argon2',
          hashIterations: 2,
          additionalParameters: {
            hashLength: ['32'],
            memory: ['256'],
            type: ['id'],
            version: ['1.3'],
            parallelism: ['1'],
          },
        }),
      }),
    },
  ],
  ['MD5', 'abc', { algorithm: 'md5', value: '900150983cd24fb0d6963f7d28e17f72' }],
  ['SHA-1 with a prefix', 'bc', { algorithm: 'sha1', value: SHA1_ABC, salt: 'a' }],
  [
    'SHA-256 with a suffix',
    'ab',
    {
      algorithm: 'sha256',
      value: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
      salt: '63',
      saltEncoding: 'hex',
      saltPosition: 'suffix',
    },
  ],
  ['SHA-512', 'abc', { algorithm: 'sha512', value: SHA512_ABC }],
  ['{SHA}', 'abc', { algorithm: 'ldap', value: `{SHA}${toBase64(SHA1_ABC)}` }],
  ['{SSHA}', 'ab', { algorithm: 'ldap', value: `{SSHA}${toBase64(SHA1_ABC, 'c')}` }],
  ['{SSHA512}', 'ab', { algorithm: 'ldap', value: `{SSHA512}${toBase64(SHA512_ABC, 'c')}` }],
  [
    '{SMD5}',
    'ab',
    { algorithm: 'ldap', value: `{smd5}${toBase64('900150983cd24fb0d6963f7d28e17f72', 'c')}` },
  ],
]

const parse = (hash: object) => accountProof.safeParse({ hash })

describe('the hash of an old password', () => {
  test.for(VECTORS)('as %s has its password and no other one', async ([, password, hash]) => {
    const stored = parse(hash).data
    if (!stored || stored.kind === 'url') throw new Error(JSON.stringify(parse(hash).error?.issues))
    expect(await comparePassword('vectors', password, stored)).toBe(true)
    expect(await comparePassword('vectors', `${password}x`, stored)).toBe(false)
    expect(await comparePassword('vectors', '', stored)).toBe(false)
  })

  test('of bcrypt is compared with the first 72 bytes of a password, as bcrypt does', async () => {
    const password = 'a'.repeat(72)
    const value = await bcrypt({ password, salt: Buffer.alloc(16, 1), costFactor: 4, outputType: 'encoded' })
    expect(await comparePassword('vectors', `${password}b`, { kind: 'bcrypt', hash: value })).toBe(true)
    expect(await comparePassword('vectors', password.slice(1), { kind: 'bcrypt', hash: value })).toBe(false)
  })

  test.for([
    [
      'bcrypt with a cost of 15',
      'value',
      { algorithm: 'bcrypt', value: '$2a$15$If6bvum7DFjUnE9p2uDeDu0YHzrHM6tf.iqN8.yx.jNN1ILEf7h0i' },
    ],
    [
      'a crypt that is not bcrypt',
      'value',
      {
        algorithm: 'bcrypt',
        value:
          '$6$rounds=5000$usesomesillystri$D4IrlXatmP7rx3P3InaxBeoomnAihCKRVQAr/36eYKLwTTYF8oFWvmsdFrq8LB',
      },
    ],
    [
      'Argon2 with 256 MiB',
      'value',
      {
        algorithm: 'argon2',
        value: '$argon2id$v=19$m=262144,t=1,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4',
      },
    ],
    [
      'Argon2 with a thousand passes',
      'value',
      {
        algorithm: 'argon2',
        value: '$argon2id$v=19$m=65536,t=1000,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4',
      },
    ],
    [
      'Argon2 with 64 lanes',
      'value',
      {
        algorithm: 'argon2',
        value: '$argon2id$v=19$m=65536,t=1,p=64$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4',
      },
    ],
    [
      'scrypt with 256 MiB',
      'cost',
      { algorithm: 'scrypt', value: toBase64(SCRYPT), salt: 'aaaa', cost: 262_144 },
    ],
    [
      'scrypt with a cost that is not a power of two',
      'cost',
      { algorithm: 'scrypt', value: toBase64(SCRYPT), salt: 'aaaa', cost: 1000 },
    ],
    [
      'scrypt with much parallel work',
      'parallelization',
      { algorithm: 'scrypt', value: toBase64(SCRYPT), salt: 'aaaa', cost: 131_072, parallelization: 16 },
    ],
    [
      'PBKDF2 with five million iterations',
      'iterations',
      {
        algorithm: 'pbkdf2',
        digest: 'sha256',
        iterations: 5_000_000,
        salt: 'aaaa',
        value: toBase64(PBKDF2_SHA256),
      },
    ],
    [
      'PBKDF2 without a salt',
      'salt',
      { algorithm: 'pbkdf2', digest: 'sha256', iterations: 5000, value: toBase64(PBKDF2_SHA256) },
    ],
    [
      'PBKDF2 with MD5',
      'digest',
      { algorithm: 'pbkdf2', digest: 'md5', iterations: 5000, salt: 'aaaa', value: toBase64(PBKDF2_SHA256) },
    ],
    [
      'a hash of four bytes',
      'value',
      { algorithm: 'pbkdf2', digest: 'sha256', iterations: 5000, salt: 'aaaa', value: 'abcdefgh' },
    ],
    ['a hash of another length', 'value', { algorithm: 'sha256', value: SHA1_ABC }],
    ['a salt of 300 bytes', 'salt', { algorithm: 'sha1', value: SHA1_ABC, salt: 'a'.repeat(300) }],
    ['an unknown scheme of LDAP', 'value', { algorithm: 'ldap', value: '{CRYPT}$1$abc$def' }],
    [
      'a memory of Keycloak that is not a number',
      'value',
      { algorithm: 'keycloak', value: keycloak('argon2', 5, toBase64(SHA1_ABC), { memory: ['many'] }) },
    ],
    ['JSON of another thing', 'value', { algorithm: 'keycloak', value: '{}' }],
    ['an unknown algorithm', 'algorithm', { algorithm: 'whirlpool', value: 'abc' }],
  ] as const)('is rejected for %s, by the member %s', ([, member, hash]) => {
    expect(parse(hash).error?.issues.map(({ path }) => path)).toEqual([['hash', member]])
  })
})
