import * as z from 'zod'
import { readIdPrefix } from '../core/crypto.ts'
import { SCOPE_NAMES } from '../core/scopes.ts'
import { defineEnum } from '../schema/enums.ts'
import { listExamples, listField, mapShapes, requiredField } from '../schema/fields.ts'
import { asFormat } from '../schema/formats.ts'
import { integer, requiredText, text } from '../schema/input-shapes.ts'
import { ipNetwork } from '../schema/ip-network.ts'
import { defineFilter } from '../schema/lists.ts'
import { asId, createIdPattern, createIdShape, instantShape } from '../schema/response-shapes.ts'

const DEFAULT_OVERLAP_SECONDS = 86_400
const MAX_OVERLAP_SECONDS = 2_592_000

const OWNER = defineEnum('ApiKeyOwner', 'Whose API key it is.', {
  tenant: 'The key of the tenant: it permits its scopes.',
  organization:
    'The key of an organization: it permits nothing at the management API, and with scim:write SCIM for this organization.',
  user: 'The key of a user: it permits those of its scopes that the roles of the user permit.',
})

const scopes = listField(asFormat(z.enum(SCOPE_NAMES as [string, ...string[]], 'is not a scope'), 'scope'), {
  isPlain: true,
  example: ['users:read'],
})
const allowedNetworks = listField(ipNetwork, { isPlain: true, max: 50, example: ['203.0.113.0/24'] })
const FIELDS = {
  name: requiredField(requiredText(200), z.string(), 'Nightly export'),
  scopes,
  resources: listField(text(2000), { isPlain: true, max: 20, example: [] }),
  allowedNetworks,
}
const META = { model: 'ApiKey', samples: listExamples(FIELDS) }

const expiresInSeconds = integer(60, 157_680_000).nullish().meta({
  description: 'Lifetime in seconds, up to apiKeyLifetimeSeconds of the tenant, which is the default.',
  example: 7_776_000,
})

const userId = asId(
  text(200).refine((id) => readIdPrefix(id) === 'user', 'is not an id that starts with user_'),
).meta({
  pattern: createIdPattern('user'),
  example: 'user_01k7r3m8wxe4gbr5v2c9t6hznq',
})

const organizationId = asId(
  text(200).refine(
    (id) => readIdPrefix(id) === 'organization',
    'is not an id that starts with organization_',
  ),
).meta({ pattern: createIdPattern('organization'), example: 'organization_01k7r3m8wxe4gbr5v2c9t6hznq' })

/** Input of createViewerApiKey. */
export const ViewerApiKeyCreate = z
  .strictObject({ ...mapShapes(FIELDS, 'creation'), expiresInSeconds }, 'must be an object')
  .meta({ id: 'ViewerApiKeyCreate', ...META })

/** Input of createApiKey. */
export const ApiKeyCreate = ViewerApiKeyCreate.extend({
  userId: userId
    .nullish()
    .meta({ description: 'Id of the user whose key it is; by default it is a key of the tenant.' }),
  organizationId: organizationId.nullish().meta({
    description:
      'Id of the organization whose key it is, or, with userId, of which the user is a member. Such a key is for `resources` alone, or, without a user, for SCIM by the scope `scim:write`.',
  }),
}).meta({ id: 'ApiKeyCreate', ...META })

const { resources: _, ...changeable } = FIELDS
/** Input of updateApiKey. */
export const ApiKeyPatch = z
  .strictObject(mapShapes(changeable, 'change'), 'must be an object')
  .meta({ id: 'ApiKeyPatch', model: 'ApiKey', example: { name: 'Nightly export', scopes: ['users:read'] } })

/** Input of rotateApiKey. */
export const ApiKeyRotation = z
  .strictObject(
    {
      overlapSeconds: integer(0, MAX_OVERLAP_SECONDS)
        .nullish()
        .transform((value) => value ?? DEFAULT_OVERLAP_SECONDS)
        .meta({
          description: `How long the current key is still accepted, 0 to ${MAX_OVERLAP_SECONDS} seconds; one day by default. An older one is deleted immediately.`,
          example: 3600,
        }),
      expiresInSeconds: expiresInSeconds.meta({
        description:
          'Lifetime of the new key in seconds, up to apiKeyLifetimeSeconds of the tenant; that of the current key by default.',
      }),
    },
    'must be an object',
  )
  .meta({ id: 'ApiKeyRotation', description: 'How the key is replaced.' })

const ANSWER = mapShapes(FIELDS, 'answer')
const answer = {
  id: createIdShape('apikey').meta({ description: 'Id of the API key, not the key itself.' }),
  name: ANSWER.name,
  owner: OWNER.shape.meta({ description: 'Whose key it is.', example: 'tenant' }),
  userId: createIdShape('user').nullable().meta({ example: null }),
  organizationId: createIdShape('organization').nullable().meta({ example: null }),
  scopes: ANSWER.scopes,
  resources: ANSWER.resources,
  allowedNetworks: ANSWER.allowedNetworks,
  start: z.string().meta({ example: 'vstb_8Kd2' }),
  lastUsedAt: instantShape.nullable(),
  rotatedAt: instantShape.nullable().meta({ example: null }),
  expiresAt: instantShape,
  createdAt: instantShape,
}

/** An API key in REST responses, without the key itself. */
export const ApiKeyShape = z.object(answer).meta({ id: 'ApiKey', ...META })

const key = z.string().meta({
  description: 'The key, returned only here.',
  example: 'vstb_000000000000000000000000000000000000000000000000',
})

/** The response to createApiKey. */
export const NewApiKeyShape = z.object({ ...answer, key }).meta({ id: 'NewApiKey', ...META })

/** The response to rotateApiKey. */
export const RotatedApiKeyShape = z
  .object({
    ...answer,
    key,
    previousExpiresAt: instantShape
      .nullable()
      .meta({ description: 'When the former key expires; null when it is no longer accepted.' }),
  })
  .meta({ id: 'RotatedApiKey', ...META })

/** Which keys a list is about. */
export const API_KEY_FILTER = defineFilter({
  owner: { shape: OWNER.shape, column: null, description: 'Of these owners.', example: 'tenant' },
  organizationId: { shape: organizationId, description: 'Of this organization, or of its members in it.' },
  userId: { shape: userId, description: 'Of this user.', example: 'user_01k7r3m8wxe4gbr5v2c9t6hznq' },
})
