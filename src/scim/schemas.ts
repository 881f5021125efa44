import { issuerOf } from '../core/issuer.ts'
import {
  type Attribute,
  ENTERPRISE_ATTRIBUTES,
  ENTERPRISE_SCHEMA,
  GROUP_ATTRIBUTES,
  GROUP_SCHEMA,
  type Json,
  USER_ATTRIBUTES,
  USER_SCHEMA,
} from './attributes.ts'

/** Resources of a page. */
export const DEFAULT_COUNT = 100
export const MAX_COUNT = 200

const toAttribute = ({ name, type, description, subAttributes, ...more }: Attribute): Json => ({
  name,
  type,
  multiValued: more.multiValued ?? false,
  description,
  required: more.required ?? false,
  caseExact: more.caseExact ?? false,
  mutability: more.isReadOnly ? 'readOnly' : 'readWrite',
  returned: 'default',
  uniqueness: more.uniqueness ?? 'none',
  ...(type === 'reference' && { referenceTypes: ['uri'] }),
  ...(subAttributes && { subAttributes: subAttributes.map(toAttribute) }),
})

const toMeta = (tenant: string, resourceType: string, path: string) => ({
  meta: { resourceType, location: `${issuerOf(tenant)}/scim/v2/${path}` },
})

const SCHEMAS: [id: string, name: string, description: string, attributes: readonly Attribute[]][] = [
  [USER_SCHEMA, 'User', 'A person.', USER_ATTRIBUTES],
  [ENTERPRISE_SCHEMA, 'EnterpriseUser', 'The person at work.', ENTERPRISE_ATTRIBUTES],
  [GROUP_SCHEMA, 'Group', 'Users who have the roles of the group.', GROUP_ATTRIBUTES],
]

/** `/Schemas` (RFC 7643, section 7). */
export const listSchemas = (tenant: string): Json[] =>
  SCHEMAS.map(([id, name, description, attributes]) => ({
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:Schema'],
    id,
    name,
    description,
    attributes: attributes.map(toAttribute),
    ...toMeta(tenant, 'Schema', `Schemas/${id}`),
  }))

/** `/ResourceTypes` (RFC 7643, section 6). */
export const listResourceTypes = (tenant: string): Json[] =>
  [
    { name: 'User', schema: USER_SCHEMA, extensions: [{ schema: ENTERPRISE_SCHEMA, required: false }] },
    { name: 'Group', schema: GROUP_SCHEMA, extensions: [] },
  ].map(({ name, schema, extensions }) => ({
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:ResourceType'],
    id: name,
    name,
    endpoint: `/${name}s`,
    schema,
    schemaExtensions: extensions,
    ...toMeta(tenant, 'ResourceType', `ResourceTypes/${name}`),
  }))

/** `/ServiceProviderConfig` (RFC 7643, section 5). */
export const buildServiceProviderConfig = (tenant: string): Json => ({
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig'],
  patch: { supported: true },
  bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
  filter: { supported: true, maxResults: MAX_COUNT },
  changePassword: { supported: false },
  sort: { supported: true },
  pagination: {
    cursor: true,
    index: true,
    defaultPaginationMethod: 'index',
    defaultPageSize: DEFAULT_COUNT,
    maxPageSize: MAX_COUNT,
  },
  etag: { supported: true },
  authenticationSchemes: [
    {
      type: 'oauthbearertoken',
      name: 'Bearer token',
      description: 'An API key, or an access token, with the scope scim:write.',
      specUri: 'https://www.rfc-editor.org/rfc/rfc6750',
      primary: true,
    },
  ],
  ...toMeta(tenant, 'ServiceProviderConfig', 'ServiceProviderConfig'),
})
