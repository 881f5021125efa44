import * as z from 'zod'
import { isJsonObject } from '../core/json/json-object.ts'
import { SYSTEM_TENANT } from '../core/scopes.ts'
import { expectedUpdatedAt } from '../schema/expected-updated-at.ts'
import { mapShapes } from '../schema/fields.ts'
import { boolean, integer, searchText } from '../schema/input-shapes.ts'
import { defineFilter, type Given } from '../schema/lists.ts'
import { CANNOT_BE_CHANGED, isUnchanged, SET_BY_SERVICE } from '../schema/response-only.ts'
import { checkClientConsistency, REDIRECT_FIELDS, SECRET_FIELD_DEFAULTS } from './client-rules.fields.ts'
import { APP_TYPE, CLIENT_TYPE } from './client-types.ts'
import { CLIENT_FIELDS, CLIENT_META } from './clients.fields.ts'
import { checkSecuritySettings } from './security-profile.fields.ts'

const createReporter =
  (context: z.RefinementCtx) =>
  (path: PropertyKey[], message: string): void =>
    context.addIssue({ code: 'custom', path, message })

const creation = {
  ...mapShapes(CLIENT_FIELDS, 'creation'),
  /** Never changes. */
  type: CLIENT_TYPE.shape,
}

/** Input of createClient in `tenant`. */
export const createClientCreateShape = (tenant: string) =>
  z
    .strictObject({
      ...creation,
      /** Marks an operator client, whose tokens are valid in every tenant. Only the platform gives it. */
      allTenants: boolean.optional(),
    })
    .superRefine(
      (client, context) => {
        const report = createReporter(context)
        checkClientConsistency(tenant, client, report)
        checkSecuritySettings(client, client, report)
      },
      { when: ({ value }) => isJsonObject(value) },
    )

/** Input of createClient, for the documents of the API. */
export const ClientCreate = z.strictObject(creation).meta({ id: 'ClientCreate', ...CLIENT_META })

/** A read-only field: it is accepted with its stored value and ignored. */
const responseOnly = (isSame: (sent: unknown) => boolean, message = SET_BY_SERVICE) =>
  z
    .unknown()
    .refine((sent) => sent === undefined || isSame(sent), message)
    .transform(() => undefined)
    .optional()
    .meta({ readOnly: true })

const unchanged = (current: unknown) => (sent: unknown) => isUnchanged(sent, current)

/** The stored client, against which an update is validated. */
export type CurrentClient = {
  id: string
  type: string
  appType: string
  registeredBy: string
  updatedAt: Date
  createdAt: Date
  /** Whether a value is the current secret of the client; null without a secret. */
  isCurrentSecret: (sent: unknown) => boolean
}

/**
 * Input of updateClient in `tenant`: omitted is unchanged, null and, for text, '' unset. The result must be
 * valid as a whole; fields that are not given, and not affected by another app type, are not validated again.
 */
export const createClientPatchShape = (tenant: string, current: CurrentClient) =>
  z
    .strictObject(
      {
        id: responseOnly(unchanged(current.id)),
        ...mapShapes(CLIENT_FIELDS, 'change'),
        type: responseOnly(unchanged(current.type), CANNOT_BE_CHANGED),
        secret: responseOnly(current.isCurrentSecret).meta({ description: 'The current secret; ignored.' }),
        registeredBy: responseOnly(unchanged(current.registeredBy)),
        updatedAt: responseOnly(unchanged(current.updatedAt)),
        createdAt: responseOnly(unchanged(current.createdAt)),
        expectedUpdatedAt,
      },
      'must be an object',
    )
    .superRefine(
      (patch, context) => {
        const given = Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined))
        const isOtherType = given.appType !== undefined && given.appType !== current.appType
        const report = createReporter(context)
        checkClientConsistency(
          tenant,
          { ...current, ...SECRET_FIELD_DEFAULTS, ...given },
          report,
          REDIRECT_FIELDS.filter((field) => isOtherType || given[field] !== undefined),
        )
        checkSecuritySettings(given, { ...current, ...given }, report)
      },
      { when: ({ value }) => isJsonObject(value) },
    )

/** Input of updateClient, for the documents of the API. */
export const ClientPatch = createClientPatchShape(SYSTEM_TENANT, {} as CurrentClient).meta({
  id: 'ClientPatch',
  model: 'Client',
  example: { name: 'Shop', themeColor: null },
})

export const MAX_SECRET_OVERLAP_SECONDS = 2_592_000
const DEFAULT_SECRET_OVERLAP_SECONDS = 86_400

/** How long the previous secret stays valid after a rotation. */
export const SecretRotation = z
  .strictObject(
    {
      overlapSeconds: integer(0, MAX_SECRET_OVERLAP_SECONDS)
        .nullish()
        .transform((value) => value ?? DEFAULT_SECRET_OVERLAP_SECONDS)
        .meta({
          description:
            'How long the current secret stays valid, 0 to 2592000 seconds; one day by default. An older secret is deleted immediately.',
          example: 3600,
        }),
    },
    'must be an object',
  )
  .meta({ id: 'SecretRotation', description: 'How the secret is replaced.' })

/** Which clients a list is about. */
export const CLIENT_FILTER = defineFilter({
  search: {
    shape: searchText,
    column: null,
    description:
      'Parts of the name, the id, the home page or a redirect URI, independent of case and accents. Each word of the search must be found.',
    example: 'shop example.com',
  },
  type: { shape: CLIENT_TYPE.shape, description: 'Of this type.' },
  appType: { shape: APP_TYPE.shape, description: 'Of this kind.' },
})
export type ClientFilter = Given<typeof CLIENT_FILTER.members>
