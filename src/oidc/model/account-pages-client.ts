import type { CachedClient } from '../../access/client-cache.ts'
import type { CachedTenant } from '../../access/tenant-cache.ts'
import { ACCOUNT_PAGES_ID } from './authorize-request.ts'

/** What a sign-in reads of the client that requests it. */
export type RequestingClient = Pick<
  CachedClient,
  | 'id'
  | 'name'
  | 'logoUrl'
  | 'clientUri'
  | 'policyUrl'
  | 'termsUrl'
  | 'translations'
  | 'themeColor'
  | 'appType'
  | 'registeredBy'
  | 'requireConsent'
  | 'requireSecondFactor'
  | 'defaultMaxAge'
  | 'scopes'
  | 'claimMappings'
  | 'groupsClaim'
  | 'codeGeneration'
  | 'callbacks'
  | 'allowedOrigins'
  | 'webOrigins'
  | 'resources'
>

/** The account pages in the place of a client: users know them by the name of the tenant. */
export const createAccountPagesClient = ({
  tenantId,
  friendlyName,
  logoUrl,
}: Pick<CachedTenant, 'tenantId' | 'friendlyName' | 'logoUrl'>): RequestingClient => ({
  id: ACCOUNT_PAGES_ID,
  name: `${friendlyName || tenantId} account`,
  logoUrl,
  clientUri: null,
  policyUrl: null,
  termsUrl: null,
  translations: [],
  themeColor: null,
  appType: 'web',
  registeredBy: 'administrator',
  requireConsent: false,
  requireSecondFactor: false,
  defaultMaxAge: null,
  scopes: [],
  claimMappings: [],
  groupsClaim: false,
  codeGeneration: 0,
  callbacks: [],
  allowedOrigins: [],
  webOrigins: [],
  resources: [],
})
