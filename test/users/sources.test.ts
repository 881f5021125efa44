import { describe, expect } from 'vitest'
import { matchOldPassword } from '../../src/old-passwords/old-passwords.ts'
import { readHashConfig } from '../../src/users/sources/firebase.ts'
import { readOrganizations } from '../../src/users/sources/keycloak.ts'
import { convertExport } from '../../src/users/transfer/convert-export.ts'
import { importUsers } from '../../src/users/transfer/import.ts'
import { decodeChunks } from '../../src/users/transfer/import-csv.ts'
import { getUserByEmail } from '../../src/users/users.ts'
import { startMigration } from '../support/sign-in-methods.ts'
import { test } from '../support/tenant-per-test.ts'
import { collect, toChunks, toNdjson, toStatuses } from '../support/user-lines.ts'

const BCRYPT = '$2a$06$If6bvum7DFjUnE9p2uDeDu0YHzrHM6tf.iqN8.yx.jNN1ILEf7h0i'
const bcryptProof = { hash: { algorithm: 'bcrypt', value: BCRYPT } }
const HASH_CONFIG = `hash_config {
  algorithm: SCRYPT,
  base64_signer_key: jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==,
  base64_salt_separator: Bw==,
  rounds: 8,
  mem_cost: 14,
}`
const KEYCLOAK_SECRET = {
  value: 'nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4=',
  salt: 'c29tZXNhbHQ=',
  additionalParameters: {},
}
const KEYCLOAK_DATA = {
  hashIterations: 2,
  algorithm: 'argon2',
  additionalParameters: {
    hashLength: ['32'],
    memory: ['256'],
    type: ['id'],
    version: ['1.3'],
    parallelism: ['1'],
  },
}
const keycloakUser = (n: number) => ({
  id: `b0c7a3f2-0000-4000-8000-00000000000${n}`,
  username: `person${n}`,
  email: `person${n}@example.com`,
  emailVerified: true,
  enabled: n !== 2,
  firstName: 'Ada "the {first}"',
  lastName: `No ${n}`,
  attributes: { department: ['math'] },
  credentials: [
    {
      id: 'c',
      type: 'password',
      createdDate: 1,
      secretData: JSON.stringify(KEYCLOAK_SECRET),
      credentialData: JSON.stringify(KEYCLOAK_DATA),
    },
    ...(n === 1
      ? [
          {
            id: 'w',
            type: 'webauthn-passwordless',
            secretData: '{}',
            credentialData: JSON.stringify({
              aaguid: '00000000-0000-0000-0000-000000000000',
              credentialId: 'AQI/',
              counter: 3,
              credentialPublicKey: 'pQECAyYg',
              attestationStatementFormat: 'none',
              transports: ['internal'],
            }),
          },
        ]
      : []),
    ...(n === 3
      ? [
          {
            id: 'o',
            type: 'otp',
            secretData: JSON.stringify({ value: '12345678901234567890' }),
            credentialData: JSON.stringify({
              subType: 'totp',
              digits: 6,
              counter: 0,
              period: 30,
              algorithm: 'HmacSHA1',
            }),
          },
        ]
      : []),
  ],
  ...(n === 3 && { federatedIdentities: [{ identityProvider: 'google', userId: '117', userName: 'ada' }] }),
  realmRoles: ['offline_access', 'default-roles-acme', ...(n === 1 ? ['Editors', 'internal', 'reader'] : [])],
  clientRoles: { account: ['manage-account'], ...(n === 1 && { shop: ['buyer'] }) },
  groups: n === 1 ? ['/Staff/Order desk'] : [],
})
const KEYCLOAK_EXPORT = JSON.stringify(
  {
    id: 'r',
    realm: 'acme',
    roles: { realm: [{ name: 'users' }] },
    users: [1, 2, 3].map(keycloakUser),
    clients: [{ clientId: 'users' }],
    organizations: [
      {
        id: 'o-1',
        name: 'Acme {Inc.}',
        alias: 'Acme',
        enabled: true,
        domains: [{ name: 'acme.example', verified: true }],
        members: [{ id: 'x', username: 'person1', membershipType: 'MANAGED' }],
      },
    ],
  },
  null,
  2,
)

const convert = async (
  from: string,
  text: string,
  { isCsv = false, config = '' } = {},
): Promise<object[]> => {
  const lines: object[] = []
  const options = {
    from,
    isCsv,
    config: {
      hash: config ? readHashConfig(config) : null,
      providers: { google: 'google', 'google.com': 'google', 'google-oauth2': 'google' },
      roles: { Editors: 'editor', internal: '' },
      rpId: 'id.example.com',
      organizations:
        from === 'keycloak'
          ? await readOrganizations(decodeChunks(toChunks(text, 9), 'utf-8'))
          : new Map<string, object[]>(),
    },
  }
  for await (const line of convertExport(toChunks(text, 7), options))
    lines.push(JSON.parse(Buffer.from(line).toString()))
  return lines
}

const EXPORTS: [
  from: string,
  text: string,
  expected: object[],
  options?: { isCsv?: boolean; config?: string },
][] = [
  [
    'auth0',
    toNdjson([
      {
        user_id: 'auth0|5f',
        email: 'ada@example.com',
        email_verified: true,
        name: 'Ada',
        given_name: 'Ada',
        picture: 'https://s.gravatar.com/a.png',
        user_metadata: { hobby: 'chess' },
        identities: [
          { provider: 'auth0', user_id: '5f', connection: 'Users', isSocial: false },
          { provider: 'google-oauth2', user_id: '117', connection: 'google-oauth2', isSocial: true },
        ],
        app_metadata: { authorization: { roles: ['Editors'], groups: ['Staff'], permissions: [] } },
        blocked: true,
      },
      {
        _id: { $oid: '5f' },
        email: 'ada@example.com',
        email_verified: true,
        passwordHash: BCRYPT,
        tenant: 'acme',
        connection: 'Users',
      },
    ]),
    [
      {
        externalId: 'auth0|5f',
        email: 'ada@example.com',
        emailVerified: true,
        name: 'Ada',
        givenName: 'Ada',
        picture: 'https://s.gravatar.com/a.png',
        locked: true,
        userMetadata: { hobby: 'chess' },
        appMetadata: { authorization: { roles: ['Editors'], groups: ['Staff'], permissions: [] } },
        identities: [{ idpId: 'google', externalId: '117' }],
        appRoles: ['editor'],
        groups: ['Staff'],
      },
      { externalId: 'auth0|5f', email: 'ada@example.com', emailVerified: true, proof: bcryptProof },
    ],
  ],
  [
    'keycloak',
    KEYCLOAK_EXPORT,
    [1, 2, 3].map((n) => ({
      externalId: `b0c7a3f2-0000-4000-8000-00000000000${n}`,
      email: `person${n}@example.com`,
      emailVerified: true,
      name: `Ada "the {first}" No ${n}`,
      givenName: 'Ada "the {first}"',
      familyName: `No ${n}`,
      preferredUsername: `person${n}`,
      ...(n === 2 && { locked: true }),
      appMetadata: { department: ['math'] },
      ...(n === 1 && {
        passkeys: [
          {
            id: 'AQI/',
            publicKey: 'pQECAyYg',
            userHandle: Buffer.from('b0c7a3f2-0000-4000-8000-000000000001').toString('base64url'),
            rpId: 'id.example.com',
            signCount: 3,
            transports: ['internal'],
          },
        ],
        appRoles: ['editor', 'reader', 'shop:buyer'],
        groups: ['Staff/Order desk'],
        organizations: [{ slug: 'acme', externalId: 'o-1', name: 'Acme {Inc.}' }],
      }),
      // The key of RFC 6238.
      ...(n === 3 && {
        totpKey: 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ',
        identities: [{ idpId: 'google', externalId: '117' }],
      }),
      proof: {
        hash: {
          algorithm: 'keycloak',
          value: JSON.stringify({
            secretData: JSON.stringify(KEYCLOAK_SECRET),
            credentialData: JSON.stringify(KEYCLOAK_DATA),
          }),
        },
      },
    })),
  ],
  [
    'firebase',
    JSON.stringify({
      users: [
        {
          localId: 'uid1',
          email: 'ada@example.com',
          emailVerified: false,
          passwordHash:
            'lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ==',
          salt: '42xEC+ixf3L2lw==',
          displayName: 'Ada',
          phoneNumber: '+41791234567',
          disabled: false,
          customAttributes: '{"plan":"pro"}',
          providerUserInfo: [{ providerId: 'google.com', rawId: '117', email: 'ada@example.com' }],
          createdAt: '1',
        },
      ],
    }),
    [
      {
        externalId: 'uid1',
        email: 'ada@example.com',
        emailVerified: false,
        phoneNumber: '+41791234567',
        phoneNumberVerified: true,
        name: 'Ada',
        appMetadata: { plan: 'pro' },
        identities: [{ idpId: 'google', externalId: '117' }],
        proof: {
          hash: {
            algorithm: 'firebase-scrypt',
            value: 'lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ==',
            salt: '42xEC+ixf3L2lw==',
            signerKey:
              'jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==',
            saltSeparator: 'Bw==',
            rounds: 8,
            memoryCost: 14,
          },
        },
      },
    ],
    { config: HASH_CONFIG },
  ],
  [
    'cognito',
    JSON.stringify({
      Users: [
        {
          Username: 'ada',
          Attributes: [
            { Name: 'sub', Value: 'c1' },
            { Name: 'email', Value: 'ada@example.com' },
            { Name: 'email_verified', Value: 'true' },
            { Name: 'custom:plan', Value: 'pro' },
          ],
          Enabled: false,
          UserStatus: 'CONFIRMED',
        },
      ],
    }),
    [
      {
        externalId: 'c1',
        email: 'ada@example.com',
        emailVerified: true,
        preferredUsername: 'ada',
        locked: true,
        appMetadata: { plan: 'pro' },
      },
    ],
  ],
  [
    'clerk',
    `id,first_name,last_name,username,primary_email_address,primary_phone_number,verified_email_addresses,unverified_email_addresses,verified_phone_numbers,unverified_phone_numbers,totp_secret,password_digest,password_hasher\nuser_2a,Ada,King,,ada@example.com,,ada@example.com,,,,,${BCRYPT},bcrypt\nuser_2b,,,,victim@example.com,+41791234567,notvictim@example.com|bea@example.com,,+417912345678,,,,\n`,
    [
      {
        externalId: 'user_2a',
        email: 'ada@example.com',
        emailVerified: true,
        name: 'Ada King',
        givenName: 'Ada',
        familyName: 'King',
        proof: bcryptProof,
      },
      {
        externalId: 'user_2b',
        email: 'victim@example.com',
        emailVerified: false,
        phoneNumber: '+41791234567',
        phoneNumberVerified: false,
      },
    ],
    { isCsv: true },
  ],
  [
    'okta',
    JSON.stringify([
      {
        id: '00u1',
        status: 'SUSPENDED',
        created: '2013-06-24T16:39:18.000Z',
        profile: { login: 'ada', email: 'ada@example.com', firstName: 'Ada', lastName: 'King' },
        credentials: { provider: { type: 'OKTA' } },
      },
      { id: '00u2', status: 'ACTIVE', profile: { email: 'bea@example.com' } },
    ]),
    [
      {
        externalId: '00u1',
        email: 'ada@example.com',
        emailVerified: false,
        name: 'Ada King',
        givenName: 'Ada',
        familyName: 'King',
        preferredUsername: 'ada',
        locked: true,
      },
      { externalId: '00u2', email: 'bea@example.com', emailVerified: false },
    ],
  ],
  [
    'supabase',
    `id,email,encrypted_password,email_confirmed_at,phone,phone_confirmed_at,raw_user_meta_data,banned_until\n8d0f,ada@example.com,${BCRYPT},2024-01-01 00:00:00+00,41791234567,,"{""full_name"": ""Ada""}",\n8d10,bea@example.com,,,,,,infinity\n`,
    [
      {
        externalId: '8d0f',
        email: 'ada@example.com',
        emailVerified: true,
        phoneNumber: '+41791234567',
        phoneNumberVerified: false,
        name: 'Ada',
        userMetadata: { full_name: 'Ada' },
        proof: bcryptProof,
      },
      { externalId: '8d10', email: 'bea@example.com', emailVerified: false, locked: true },
    ],
    { isCsv: true },
  ],
]

const LEFT_BEHIND = { Editors: '', internal: '', reader: '', 'shop:buyer': '' }

describe('an export of another system', () => {
  test.for(EXPORTS)('of %s becomes the lines of an import', async ([from, text, expected, options]) => {
    expect(await convert(from, text, options)).toEqual(expected)
  })

  test('is imported with passwords, tried before, and continued at a line', async ({ ctx }) => {
    await startMigration(ctx)
    const importExport = (options: object) =>
      collect(
        importUsers(
          ctx,
          convertExport(toChunks(KEYCLOAK_EXPORT), {
            from: 'keycloak',
            isCsv: false,
            config: { hash: null, providers: {}, roles: LEFT_BEHIND, rpId: null, organizations: new Map() },
          }),
          options,
        ),
      )
    expect(toStatuses(await importExport({ dryRun: true }))).toEqual(['created', 'created', 'created'])
    expect(toStatuses(await importExport({ startLine: 2 }))).toEqual(['created', 'created'])
    expect(toStatuses(await importExport({}))).toEqual(['created', 'unchanged', 'unchanged'])
    const { id, locked } = await getUserByEmail(ctx, 'person2@example.com')
    expect(locked).toBe(true)
    expect(await matchOldPassword(ctx, { userId: id, address: 'a' }, 'password')).toMatchObject({
      algorithm: 'argon2',
    })
  })

  test.for<[what: string, text: string]>([
    ['an incomplete document', '{"users": [{"id": "1"}'],
    ['a record that is not JSON', '{"users": [{id: 1}]}'],
    ['a record without an end', `{"users": [{"id": "${'a'.repeat(1_100_000)}`],
  ])('is rejected for %s', async ([, text]) => {
    await expect(convert('keycloak', text)).rejects.toMatchObject({
      fields: [{ field: 'file', description: expect.any(String) }],
    })
  })

  test('of Firebase needs all parameters of its hashes', () => {
    expect(() => readHashConfig('rounds: 8')).toThrow(
      expect.objectContaining({
        fields: [
          { field: 'hash-config', description: 'lacks base64_signer_key, base64_salt_separator, mem_cost' },
        ],
      }),
    )
  })
})
