import type { VNode } from 'preact'
import { NotSignedInPage } from '../../account/pages/account-shell.pages.tsx'
import { AddressesPage } from '../../account/pages/addresses.pages.tsx'
import { ApiKeysPage, NewApiKeyPage } from '../../account/pages/api-keys.pages.tsx'
import { AppsPage } from '../../account/pages/apps.pages.tsx'
import { DataPage } from '../../account/pages/data.pages.tsx'
import { DeletionPage } from '../../account/pages/deletion.pages.tsx'
import { OrganizationsPage } from '../../account/pages/organizations.pages.tsx'
import { OverviewPage } from '../../account/pages/overview.pages.tsx'
import { ProfilePage } from '../../account/pages/profile.pages.tsx'
import { SessionsPage } from '../../account/pages/sessions.pages.tsx'
import {
  AuthenticatorAppPage,
  CreateRecoveryCodesPage,
  NewRecoveryCodesPage,
} from '../../account/pages/sign-in/authenticator-app.pages.tsx'
import {
  AuthenticatorAppPart,
  CredentialsPart,
  IdentitiesPart,
  PasskeyCreationPart,
  SignInMethodsPage,
} from '../../account/pages/sign-in/sign-in-methods.pages.tsx'
import type { PageTenant } from '../../pages/page-shell.pages.tsx'
import { listProfileFields } from '../../sign-up/sign-up-fields.ts'
import { CLIENT, createSampleForm, createSampleKey, PERSON, RECOVERY_CODES } from './samples.ts'

/** The account pages. */
export function buildAccountSamples(tenant: PageTenant, now: Date): Record<string, VNode> {
  const shown = { tenant, form: createSampleForm(tenant), timeZone: null }
  const credential = { id: 'cred_1', type: 'totp' as const, name: null, createdAt: now, lastUsedAt: now }
  const addresses = [
    { kind: 'email' as const, address: PERSON.email, isVerified: true, pending: null, canRemove: false },
    { kind: 'phone' as const, address: null, isVerified: false, pending: null, canRemove: false },
  ]
  const session = { id: 'session_1', ip: '203.0.113.7', lastSeenAt: now, startedAt: now }
  return {
    account: <OverviewPage tenant={tenant} person={PERSON} canDelete hasKeys hasOrganizations />,
    'account-profile': (
      <ProfilePage
        {...shown}
        fields={listProfileFields()}
        values={{ name: PERSON.name }}
        updatedAt={now.toISOString()}
      />
    ),
    'account-addresses': <AddressesPage {...shown} addresses={addresses} />,
    'account-sign-in-methods': (
      <SignInMethodsPage
        {...shown}
        acceptsCodes
        parts={[
          <CredentialsPart {...shown} credentials={[credential]} hasMore={false} />,
          <IdentitiesPart
            {...shown}
            identities={[{ idpId: 'google', provider: 'Google', account: PERSON.email, linkedAt: now }]}
            providers={[{ id: 'github', name: 'GitHub' }]}
          />,
          <PasskeyCreationPart {...shown} />,
          <AuthenticatorAppPart {...tenant} hasApp={false} />,
        ]}
      />
    ),
    'account-authenticator-app': <AuthenticatorAppPage {...shown} enrollment={createSampleKey(tenant)} />,
    'account-recovery-codes': <CreateRecoveryCodesPage {...shown} />,
    'account-new-recovery-codes': <NewRecoveryCodesPage tenant={tenant} codes={RECOVERY_CODES} />,
    'account-sessions': (
      <SessionsPage
        {...shown}
        hasMore={false}
        sessions={[
          { ...session, title: 'Firefox, Windows', isCurrent: true, place: 'Zurich', apps: [CLIENT.name] },
        ]}
      />
    ),
    'account-api-keys': (
      <ApiKeysPage
        {...shown}
        apiKeys={[
          {
            id: 'apikey_1',
            name: 'Calendar',
            start: 'vstb_8Kd2',
            permits: ['Orders'],
            lastUsedAt: null,
            expiresAt: now,
          },
        ]}
        offer={{ scopes: ['users:read'], apis: [{ resource: 'https://api.example.com', name: 'Orders' }] }}
      />
    ),
    'account-new-api-key': <NewApiKeyPage tenant={tenant} apiKey={`vstb_${'0'.repeat(49)}`} />,
    'account-apps': (
      <AppsPage
        {...shown}
        hasMore={false}
        apps={[
          {
            clientId: 'client_1',
            clientUri: null,
            name: CLIENT.name,
            words: ['See your email address'],
            apis: ['Orders'],
            since: now,
          },
        ]}
      />
    ),
    'account-organizations': (
      <OrganizationsPage
        {...shown}
        consoleUrl={`/${tenant.tenantId}/console`}
        organizations={[
          { id: 'organization_1', name: 'Acme', isAdministrator: true, roles: ['Buyer'], since: now },
        ]}
        invitations={[
          {
            id: 'invitation_1',
            organizationId: 'organization_2',
            organizationName: 'Globex',
            inviterName: PERSON.name,
            expiresAt: now,
          },
        ]}
      />
    ),
    'account-data': <DataPage {...shown} />,
    'account-deletion': <DeletionPage {...shown} days={14} dueAt={null} />,
    'account-signed-out': <NotSignedInPage tenant={tenant} />,
  }
}
