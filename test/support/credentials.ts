import { newId } from '../../src/core/crypto.ts'
import { createUser } from '../../src/users/users.ts'
import { dbFor } from './database.ts'
import { test as base } from './tenant-per-test.ts'

export const CREATE_ENROLLMENT_TOKEN = `mutation ($input: CreateCredentialEnrollmentTokenInput!) { createCredentialEnrollmentToken(input: $input) {
  ... on CreateCredentialEnrollmentTokenPayload { token uri deepLink }
  ... on ValidationError { code fields { field } } ... on UserError { code } } }`

const DEVICE = {
  deviceHash: 'h',
  deviceSwVersion: null,
  deviceMobile: false,
  devicePlatform: 'Linux',
  deviceArchitecture: 'x86',
  deviceBitness: '64',
  deviceModel: null,
  devicePlatformVersion: '6.1',
  deviceUaBrand: 'Chromium',
  deviceUaVersion: '142.0',
  deviceLastSeenIp: '192.0.2.1',
  deviceLastSeenAt: new Date('2026-11-01T00:00:00.000Z'),
}

/** Stores a credential without an enrollment. */
export async function plantCredential(
  tenant: string,
  userId: string,
  device: object = DEVICE,
): Promise<string> {
  const id = newId('cred')
  await dbFor(tenant).credential.create({
    data: { tenantId: tenant, id, userId, externalId: `x-${id}`, publicKey: 'pQECAyYgASFYIA', ...device },
  })
  return id
}

/** `test` with a tenant and a user for each test. */
export const test = base
  .extend('userId', async ({ ctx }) => (await createUser(ctx, { name: 'Ada' })).id)
  /** Stores a credential of the user, or of another one. */
  .extend(
    'plant',
    ({ tenant, userId }) =>
      (of = userId, device?: object) =>
        plantCredential(tenant, of, device),
  )
  .extend('hasCredential', ({ tenant, userId }) => async () => {
    const user = await dbFor(tenant).user.findUnique({
      where: { tenantId_id: { tenantId: tenant, id: userId } },
    })
    return user?.hasCredential
  })
