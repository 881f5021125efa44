import type { ComponentProps, VNode } from 'preact'
import {
  CancelEnrollmentPage,
  EnrolledPage,
  EnrollmentCanceledPage,
  EnrollmentExpiredPage,
  EnrollmentPage,
  EnrollmentWaitingPage,
} from '../../src/account/enrollment.pages.tsx'
import { NotSignedInPage } from '../../src/account/pages/account-shell.pages.tsx'
import { AddressesPage } from '../../src/account/pages/addresses.pages.tsx'
import { AppsPage } from '../../src/account/pages/apps.pages.tsx'
import { DataPage } from '../../src/account/pages/data.pages.tsx'
import { DeletionPage } from '../../src/account/pages/deletion.pages.tsx'
import { OverviewPage } from '../../src/account/pages/overview.pages.tsx'
import { ProfilePage } from '../../src/account/pages/profile.pages.tsx'
import { SessionsPage } from '../../src/account/pages/sessions.pages.tsx'
import {
  AuthenticatorAppPage,
  CreateRecoveryCodesPage,
  NewRecoveryCodesPage,
} from '../../src/account/pages/sign-in/authenticator-app.pages.tsx'
import {
  AuthenticatorAppPart,
  CredentialsPart,
  IdentitiesPart,
  PasskeyCreationPart,
  SignInMethodsPage,
} from '../../src/account/pages/sign-in/sign-in-methods.pages.tsx'
import { listConsentItems } from '../../src/consents/consent-items.ts'
import { buildTotpUri, renderQrCode } from '../../src/credentials/second-factors/totp.ts'
import { DemoClientPage } from '../../src/dev/demo-client.pages.tsx'
import { InboxPage, StartPage } from '../../src/dev/development.pages.tsx'
import { IDP_TYPE } from '../../src/idps/provider/provider-types.ts'
import {
  InvitationAcceptedPage,
  InvitationExpiredPage,
  InvitationPage,
} from '../../src/invitations/invitation.pages.tsx'
import type { Brand } from '../../src/model/brand.ts'
import { CHANNELS, type Channel } from '../../src/model/sign-in-methods.ts'
import { FormPostPage, WebMessagePage } from '../../src/oidc/authorize/response.pages.tsx'
import {
  DeviceApprovedPage,
  DeviceConsentPage,
  DeviceDeniedPage,
  UserCodePage,
} from '../../src/oidc/device/device.pages.tsx'
import {
  LogoutChoicePage,
  LogoutConfirmPage,
  UpstreamLogoutPage,
} from '../../src/oidc/logout/logout.pages.tsx'
import { ConsentPage } from '../../src/oidc/signin/consent.pages.tsx'
import { AddressEntry } from '../../src/oidc/signin/passcode/address-entry.pages.tsx'
import { CodePage } from '../../src/oidc/signin/passcode/code.pages.tsx'
import { PasskeyOfferPage } from '../../src/oidc/signin/passkey/passkey-creation.pages.tsx'
import { PasskeyEntry } from '../../src/oidc/signin/passkey/passkey-entry.pages.tsx'
import { PendingLinkNote, ProviderEntry } from '../../src/oidc/signin/provider/provider-entry.pages.tsx'
import {
  PasskeyFactorPage,
  PasskeySetupPage,
  RecoveryCodePage,
  RecoveryCodesPage,
  TotpPage,
  TotpSetupPage,
} from '../../src/oidc/signin/second-factor/second-factor.pages.tsx'
import { SelectAccountPage } from '../../src/oidc/signin/select-account.pages.tsx'
import { SignInPage, StrongerSignInNote } from '../../src/oidc/signin/sign-in.pages.tsx'
import { SignUpPage } from '../../src/oidc/signin/sign-up/sign-up.pages.tsx'
import { describeAddressEntry } from '../../src/oidc/signin/step/address-texts.ts'
import { TermsPage } from '../../src/oidc/signin/terms/terms.pages.tsx'
import { ErrorPage, FinishedSignInPage, SignedOutPage } from '../../src/pages/parts/outcome.pages.tsx'
import { useWords } from '../../src/pages/parts/words.pages.tsx'
import { ProviderTransferPage } from '../../src/pages/provider-transfer.pages.tsx'
import { renderPage } from '../../src/pages/render-page.pages.tsx'
import { listProfileFields, listSignUpFields } from '../../src/sign-up/sign-up-fields.ts'

/** A key for an authenticator app, with the text as its labels. */
function describeKey(text: string) {
  const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'
  const uri = buildTotpUri(secret, { issuer: text.slice(0, 200), accountName: text.slice(0, 200) })
  return { secret, uri, qrCode: renderQrCode(uri) }
}

export const interaction = { action: '/acme/signin/handle', csrf: 'csrf-token' }

const INVITATION_ONLY = {
  signUp: 'invitation',
  signUpDomains: [],
  signInMethods: [],
  passcodeChannels: ['email'],
}

const EntryHint = (): VNode => <>{describeAddressEntry(INVITATION_ONLY, false, useWords())}</>

type EmailPageProps = Omit<ComponentProps<typeof SignInPage>, 'entries'> &
  Pick<ComponentProps<typeof AddressEntry>, 'address' | 'error'> & { channels?: readonly Channel[] }

/** The first page of a sign-in with every method. */
export const EmailPage = ({ address, error, channels = CHANNELS, ...props }: EmailPageProps): VNode => (
  <SignInPage
    {...props}
    isError={Boolean(error)}
    entries={[
      <AddressEntry
        key="passcode"
        {...{ interaction: props.interaction, channels, address, hint: <EntryHint />, error }}
      />,
      <PasskeyEntry
        key="passkey"
        interaction={props.interaction}
        options={{ challenge: 'challenge', rpId: 'localhost', timeout: 300_000 }}
        isOnly={false}
        error={error}
        unknownPasskey={error ?? undefined}
      />,
      <ProviderEntry
        key="provider"
        interaction={props.interaction}
        providers={IDP_TYPE.values.map((type) => ({ id: type, type, name: props.client.name }))}
        error={error}
      />,
    ]}
  />
)

/** The text if it has a scheme. */
const toLink = (text: string): string => (text.includes(':') ? text : 'https://example.com/terms')

/** Every kind of field of a sign-up. */
const signUpFields = (label: string) =>
  listSignUpFields({
    signUpFields: [
      { field: 'name', required: true, label: null, schema: null },
      { field: 'userMetadata.seats', required: false, label, schema: { type: 'integer' } },
      { field: 'userMetadata.plan', required: true, label, schema: { type: 'string', enum: ['a', label] } },
      { field: 'userMetadata.news', required: false, label, schema: { type: 'boolean' } },
    ],
  })

/** Every page of a brand, with `text` in each place that a user, a tenant or a client can fill in. */
export function pagesWith(text: string, brand: Brand = {}) {
  const tenant = {
    tenantId: 'acme',
    friendlyName: text,
    logoUrl: text,
    supportUrl: text,
    termsUrl: text,
    privacyUrl: text,
    ...brand,
  }
  const client = { name: text, logoUrl: text, clientUri: toLink(text), themeColor: text }
  const person = { name: text, email: text, phoneNumber: text }
  const lastSeenAt = new Date(0)
  const accounts = [
    { ...person, id: text, isActive: true, lastSeenAt },
    { ...person, id: `${text}2`, isActive: false, lastSeenAt },
  ]
  const asks = listConsentItems(['openid', 'account', text], [])
  const sentAt = new Date('2030-01-01T00:00:00Z')
  const account = { tenant, form: interaction, timeZone: null, messages: [text] }
  return {
    pending: (
      <SignInPage
        {...{ tenant, client, interaction }}
        entries={[<PendingLinkNote key="pending" {...{ interaction }} provider={text} account={text} />]}
      />
    ),
    tooWeak: (
      <SignInPage
        {...{ tenant, client, interaction }}
        entries={[<StrongerSignInNote key="tooWeak" {...{ client }} />]}
      />
    ),
    transfer: <ProviderTransferPage {...{ tenant, client }} provider={{ name: text }} url={text} />,
    upstreamLogout: <UpstreamLogoutPage {...{ tenant, client }} name={text} url={text} />,
    email: <EmailPage {...{ tenant, client, interaction }} address={text} error={text} />,
    create: (
      <SignUpPage
        {...{ tenant, client, interaction }}
        address={text}
        fields={signUpFields(text)}
        terms={{ termsUrl: toLink(text), termsVersion: text, privacyUrl: toLink(text) }}
        values={{ name: text }}
        issues={{ name: text, 'userMetadata.plan': text, 'userMetadata.news': text, terms: text }}
        error={text}
      />
    ),
    'phone-number': (
      <EmailPage {...{ tenant, client, interaction }} channels={['sms']} address={text} error={text} />
    ),
    code: (
      <CodePage
        {...{ tenant, client, interaction }}
        address={text}
        error={text}
        resendAllowedAt={new Date(Date.now() + 30_000)}
      />
    ),
    totp: (
      <TotpPage
        {...{ tenant, client, interaction, label: text, error: text }}
        otherPath="/acme/signin/x/recovery"
      />
    ),
    recovery: (
      <RecoveryCodePage
        {...{ tenant, client, interaction, label: text, error: text }}
        otherPath="/acme/signin/x/second-factor"
      />
    ),
    'totp-setup': (
      <TotpSetupPage
        {...{ tenant, client, interaction, error: text }}
        enrollment={{ token: text, ...describeKey(text) }}
        passkeyPath="/acme/signin/x/passkey-setup"
      />
    ),
    'passkey-setup': (
      <PasskeySetupPage
        {...{ tenant, client, interaction, error: text }}
        options={{ challenge: text, user: { id: text, name: text } }}
        otherPath="/acme/signin/x/second-factor"
      />
    ),
    'passkey-factor': (
      <PasskeyFactorPage
        {...{ tenant, client, interaction, label: text, error: text }}
        isLimited
        entry={
          <PasskeyEntry
            {...{ interaction, error: text }}
            isOnly
            options={{ challenge: text, rpId: text, timeout: 1 }}
          />
        }
      />
    ),
    'recovery-codes': (
      <RecoveryCodesPage {...{ tenant, client, interaction }} codes={['0123-4567-89ab-cdef']} />
    ),
    'passkey-offer': (
      <PasskeyOfferPage
        {...{ tenant, client, interaction, label: text, error: text }}
        options={{ challenge: text, user: { id: text, name: text } }}
      />
    ),
    terms: (
      <TermsPage
        {...{ tenant, client, interaction, person }}
        terms={{ termsUrl: toLink(text), termsVersion: text, privacyUrl: toLink(text) }}
        isUpdate
        error={text}
      />
    ),
    consent: <ConsentPage {...{ tenant, client, interaction, person, consentItems: asks, apis: [text] }} />,
    'user-code': <UserCodePage {...{ tenant, interaction }} code={text} error={text} />,
    device: (
      <DeviceConsentPage {...{ tenant, client, interaction, person, consentItems: asks }} userCode={text} />
    ),
    'device-approved': <DeviceApprovedPage tenant={tenant} />,
    'device-denied': <DeviceDeniedPage tenant={tenant} />,
    select: <SelectAccountPage {...{ tenant, client, interaction, accounts }} />,
    'form-post': <FormPostPage {...{ tenant, client }} redirectUri={text} fields={[['state', text]]} />,
    'web-message': <WebMessagePage {...{ tenant, client }} origin={text} response={{ state: text }} />,
    error: (
      <ErrorPage
        {...{ tenant, title: text, message: text, detail: text, requestId: text }}
        startAt={{ name: text, url: text }}
      />
    ),
    start: <StartPage urls={[{ label: text, url: text, description: text }]} />,
    finished: <FinishedSignInPage tenant={tenant} person={person} startAt={{ name: text, url: text }} />,
    'signed-out': <SignedOutPage tenant={tenant} client={client} startAt={text} />,
    logout: <LogoutConfirmPage {...{ tenant, client, interaction, person }} account={text} />,
    'logout-choice': <LogoutChoicePage {...{ tenant, client, interaction, accounts }} />,
    'logout-error': (
      <LogoutConfirmPage
        {...{ tenant, client, interaction, person }}
        account={text}
        error={{ detail: text, requestId: text }}
      />
    ),
    enrollment: <EnrollmentPage tenant={tenant} label={text} token={text} path={text} />,
    enrolled: <EnrolledPage tenant={tenant} />,
    invitation: (
      <InvitationPage
        {...{ tenant, interaction }}
        address={text}
        inviterName={text}
        account={{
          fields: signUpFields(text),
          terms: { termsUrl: toLink(text), termsVersion: text, privacyUrl: toLink(text) },
          values: { name: text },
          issues: { name: text, terms: text },
        }}
        error={text}
      />
    ),
    'invitation-accepted': <InvitationAcceptedPage {...{ tenant, client }} startAt={text} />,
    'invitation-expired': <InvitationExpiredPage tenant={tenant} />,
    'enrollment-waiting': <EnrollmentWaitingPage tenant={tenant} usableAt={sentAt} />,
    'enrollment-cancel': <CancelEnrollmentPage {...{ tenant, interaction }} />,
    'enrollment-canceled': <EnrollmentCanceledPage tenant={tenant} />,
    account: <OverviewPage {...{ tenant, person }} canDelete deletedAt={sentAt} />,
    'account-deletion': <DeletionPage {...account} days={7} dueAt={null} />,
    'account-deletion-pending': (
      <DeletionPage {...account} days={7} dueAt={sentAt} notice="notice.deletionRequested" />
    ),
    'account-apps': (
      <AppsPage
        {...account}
        hasMore
        notice="notice.accessRemoved"
        apps={[
          { clientId: text, clientUri: toLink(text), name: text, words: [text], apis: [text], since: sentAt },
        ]}
      />
    ),
    'account-sign-in-methods': (
      <SignInMethodsPage
        {...account}
        notice="notice.removed"
        acceptsCodes
        parts={[
          <CredentialsPart
            {...account}
            hasMore
            credentials={[null, text].map((name) => ({
              id: `cred_${name}`,
              type: 'totp' as const,
              name,
              createdAt: sentAt,
              lastUsedAt: name ? sentAt : null,
            }))}
          />,
          <IdentitiesPart
            {...account}
            providers={[{ id: 'partner', name: text }]}
            identities={[null, text].map((account) => ({
              idpId: `${account}`,
              provider: text,
              account,
              linkedAt: sentAt,
            }))}
          />,
          <PasskeyCreationPart form={interaction} />,
          <AuthenticatorAppPart {...tenant} hasApp />,
        ]}
      />
    ),
    'account-profile': (
      <ProfilePage
        {...account}
        fields={listProfileFields().map((field) => ({ ...field, input: 'text' }))}
        values={Object.fromEntries(listProfileFields().map(({ name }) => [name, text]))}
        updatedAt={text}
      />
    ),
    'account-addresses': (
      <AddressesPage
        {...account}
        addresses={(['email', 'phone'] as const).map((kind) => ({
          kind,
          address: text,
          isVerified: kind === 'phone',
          pending: kind === 'email' ? text : null,
          canRemove: kind === 'phone',
        }))}
      />
    ),
    'account-authenticator-app': (
      <AuthenticatorAppPage {...account} enrollment={{ token: text, ...describeKey(text) }} />
    ),
    'account-recovery-codes': <CreateRecoveryCodesPage {...account} />,
    'account-new-recovery-codes': <NewRecoveryCodesPage {...{ tenant }} codes={['0123-4567-89ab-cdef']} />,
    'account-data': <DataPage {...account} />,
    'account-signed-out': <NotSignedInPage tenant={tenant} />,
    'account-sessions': (
      <SessionsPage
        {...account}
        hasMore
        timeZone="Europe/Vienna"
        notice="notice.signedOut"
        sessions={[true, false].map((isCurrent) => ({
          id: `session_${isCurrent}`,
          title: text,
          isCurrent,
          place: text,
          ip: '203.0.113.7',
          lastSeenAt: sentAt,
          startedAt: sentAt,
          apps: [text, 'Another app'],
        }))}
      />
    ),
    'enrollment-expired': <EnrollmentExpiredPage tenant={tenant} />,
    inbox: (
      <InboxPage
        messages={[{ id: '1', to: text, channel: 'email', sentAt, subject: text, body: text }]}
        to={text}
      />
    ),
    demo: (
      <DemoClientPage
        client={client}
        addresses={['ada@demo.example', 'grace@demo.example']}
        signInUrl="/in"
        inboxUrl="/dev/inbox"
        error={text}
        signedIn={{ claims: { [text]: text }, signOutUrl: '/out' }}
      />
    ),
  }
}
export const renderHtml = (page: VNode): Promise<string> => renderPage(page).text()

type Tag = { name: string; attributes: Record<string, string> }
export const TAG = /<([a-z][a-z0-9]*)((?:\s+[a-zA-Z-]+(?:="[^"]*")?)*)\s*\/?>/g
/** The opening tags of HTML as preact renders it: lower-case names, double quotes. */
export const listTags = (html: string): Tag[] =>
  [...html.matchAll(TAG)].map(([, name = '', attributes = '']) => ({
    name,
    attributes: Object.fromEntries(
      [...attributes.matchAll(/([a-z-]+)(?:="([^"]*)")?/g)].map(([, key = '', value = '']) => [key, value]),
    ),
  }))
