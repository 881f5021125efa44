import type { VNode } from 'preact'
import { listConsentItems } from '../../consents/consent-items.ts'
import type { Words } from '../../languages/translations.ts'
import { DeviceConsentPage, UserCodePage } from '../../oidc/device/device.pages.tsx'
import { ConsentPage } from '../../oidc/signin/consent.pages.tsx'
import { AddressEntry } from '../../oidc/signin/passcode/address-entry.pages.tsx'
import { CodePage } from '../../oidc/signin/passcode/code.pages.tsx'
import { PasskeyOfferPage } from '../../oidc/signin/passkey/passkey-creation.pages.tsx'
import { PasskeyEntry } from '../../oidc/signin/passkey/passkey-entry.pages.tsx'
import { PasswordPage } from '../../oidc/signin/password/password.pages.tsx'
import { ProviderEntry } from '../../oidc/signin/provider/provider-entry.pages.tsx'
import {
  PasskeyFactorPage,
  PasskeySetupPage,
  RecoveryCodePage,
  RecoveryCodesPage,
  TotpPage,
  TotpSetupPage,
} from '../../oidc/signin/second-factor/second-factor.pages.tsx'
import { SelectAccountPage } from '../../oidc/signin/select-account.pages.tsx'
import { SelectOrganizationPage } from '../../oidc/signin/select-organization.pages.tsx'
import { SignInPage } from '../../oidc/signin/sign-in.pages.tsx'
import { SignUpPage } from '../../oidc/signin/sign-up/sign-up.pages.tsx'
import { TermsPage } from '../../oidc/signin/terms/terms.pages.tsx'
import type { PageTenant } from '../../pages/page-shell.pages.tsx'
import { ProviderTransferPage } from '../../pages/provider-transfer.pages.tsx'
import { listSignUpFields } from '../../sign-up/sign-up-fields.ts'
import {
  APP_URL,
  CLIENT,
  CREATION_OPTIONS,
  createSampleForm,
  createSampleKey,
  PERSON,
  RECOVERY_CODES,
  REQUEST_OPTIONS,
} from './samples.ts'

const RESEND_MS = 30_000
const ORGANIZATIONS = [
  { id: 'acme', slug: 'acme', name: 'Acme Inc.' },
  { id: 'globex', slug: 'globex', name: 'Globex' },
]
const NAME_FIELD = [{ field: 'name' as const, required: true, label: null, schema: null }]

/** The steps of a sign-in and of the sign-in at a device. */
export function buildSignInSamples(words: Words, tenant: PageTenant, now: Date): Record<string, VNode> {
  const interaction = createSampleForm(tenant)
  const shown = { tenant, client: CLIENT, interaction }
  const factor = { ...shown, label: PERSON.email, otherPath: interaction.action }
  const terms = {
    termsUrl: tenant.termsUrl ?? 'https://example.com/terms',
    termsVersion: '1',
    privacyUrl: tenant.privacyUrl ?? null,
  }
  const accounts = [
    { ...PERSON, id: 'ada', isActive: true, lastSeenAt: now },
    { name: 'Grace Hopper', email: 'grace@example.com', id: 'grace', isActive: false, lastSeenAt: now },
  ]
  const consentItems = listConsentItems(['openid', 'profile', 'email', 'account'], [])
  return {
    'sign-in': (
      <SignInPage
        {...shown}
        entries={[
          <AddressEntry
            key="passcode"
            interaction={interaction}
            channels={['email', 'sms']}
            hint={words.text('address.hint')}
          />,
          <PasskeyEntry key="passkey" interaction={interaction} options={REQUEST_OPTIONS} isOnly={false} />,
          <ProviderEntry
            key="provider"
            interaction={interaction}
            providers={[{ id: 'google', type: 'google', name: 'Google' }]}
          />,
        ]}
      />
    ),
    'sign-up': (
      <SignUpPage
        {...shown}
        address={PERSON.email}
        fields={listSignUpFields({ signUpFields: NAME_FIELD })}
        terms={terms}
        values={{ name: PERSON.name }}
        issues={{}}
      />
    ),
    'wrong-code': (
      <CodePage
        {...shown}
        address={PERSON.email}
        error={words.text('problem.wrong')}
        resendAllowedAt={new Date(now.getTime() + RESEND_MS)}
      />
    ),
    password: <PasswordPage {...shown} address={PERSON.email} codePath={interaction.action} />,
    'at-a-provider': (
      <ProviderTransferPage tenant={tenant} client={CLIENT} provider={{ name: 'Google' }} url={APP_URL} />
    ),
    'second-factor': <TotpPage {...factor} />,
    'recovery-code': <RecoveryCodePage {...factor} />,
    'passkey-as-second-factor': (
      <PasskeyFactorPage
        {...shown}
        label={PERSON.email}
        isLimited={false}
        entry={<PasskeyEntry interaction={interaction} options={REQUEST_OPTIONS} isOnly />}
      />
    ),
    'authenticator-app-setup': (
      <TotpSetupPage {...shown} enrollment={createSampleKey(tenant)} passkeyPath={interaction.action} />
    ),
    'passkey-setup': (
      <PasskeySetupPage {...shown} options={CREATION_OPTIONS} otherPath={interaction.action} />
    ),
    'recovery-codes': <RecoveryCodesPage {...shown} codes={RECOVERY_CODES} />,
    'passkey-offer': <PasskeyOfferPage {...shown} label={PERSON.email} options={CREATION_OPTIONS} />,
    'select-account': <SelectAccountPage {...shown} accounts={accounts} />,
    'select-organization': (
      <SelectOrganizationPage {...shown} person={PERSON} organizations={ORGANIZATIONS} />
    ),
    terms: <TermsPage {...shown} person={PERSON} terms={terms} isUpdate />,
    consent: <ConsentPage {...shown} person={PERSON} consentItems={consentItems} />,
    'user-code': <UserCodePage tenant={tenant} interaction={interaction} />,
    device: <DeviceConsentPage {...shown} person={PERSON} consentItems={consentItems} userCode="WDJB-MJHT" />,
  }
}
