import type { VNode } from 'preact'
import { EnrollmentPage } from '../../account/enrollment.pages.tsx'
import { OverviewPage } from '../../account/pages/overview.pages.tsx'
import { listConsentItems } from '../../consents/consent-items.ts'
import { InvitationPage } from '../../invitations/invitation.pages.tsx'
import { DeviceConsentPage, UserCodePage } from '../../oidc/device/device.pages.tsx'
import { ConsentPage } from '../../oidc/signin/consent.pages.tsx'
import { AddressEntry } from '../../oidc/signin/passcode/address-entry.pages.tsx'
import { CodePage } from '../../oidc/signin/passcode/code.pages.tsx'
import { TotpPage } from '../../oidc/signin/second-factor/second-factor.pages.tsx'
import { SelectAccountPage } from '../../oidc/signin/select-account.pages.tsx'
import { SignInPage } from '../../oidc/signin/sign-in.pages.tsx'
import { ErrorPage, LogoutConfirmPage, SignedOutPage } from '../../pages/outcome.pages.tsx'
import type { PageTenant } from '../../pages/page-shell.pages.tsx'

/** What the pages of a sample contain. The client has no color of its own. */
const CLIENT = { name: 'Example app' }
const PERSON = { name: 'Ada Lovelace', email: 'ada@example.com' }
const RESEND_MS = 30_000

/** The pages on which a person meets a tenant, by name. Their forms lead nowhere. */
export function buildSamplePages(tenant: PageTenant, now = new Date()): Record<string, VNode> {
  const interaction = { action: `/${tenant.tenantId}/brand/preview`, csrf: '' }
  const shown = { tenant, client: CLIENT, interaction }
  const person = PERSON
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
            hint="We’ll send you a code to sign in with."
          />,
        ]}
      />
    ),
    'wrong-code': (
      <CodePage
        {...shown}
        address={PERSON.email}
        error="That code is wrong."
        resendAllowedAt={new Date(now.getTime() + RESEND_MS)}
      />
    ),
    'second-factor': <TotpPage {...shown} label={PERSON.email} otherPath={interaction.action} />,
    'select-account': <SelectAccountPage {...shown} accounts={accounts} />,
    consent: <ConsentPage {...shown} person={person} consentItems={consentItems} />,
    'user-code': <UserCodePage tenant={tenant} interaction={interaction} />,
    device: <DeviceConsentPage {...shown} person={person} consentItems={consentItems} userCode="WDJB-MJHT" />,
    invitation: (
      <InvitationPage
        tenant={tenant}
        interaction={interaction}
        address={PERSON.email}
        inviterName="Grace Hopper"
        account={null}
      />
    ),
    enrollment: <EnrollmentPage tenant={tenant} label={PERSON.email} token="" path="/" />,
    account: <OverviewPage tenant={tenant} person={person} />,
    logout: <LogoutConfirmPage {...shown} person={person} account="" />,
    'signed-out': <SignedOutPage tenant={tenant} client={CLIENT} startAt="https://app.example.com/" />,
    error: (
      <ErrorPage
        tenant={tenant}
        title="This page has expired"
        message="Go back to the application and try again."
        requestId="req_example"
      />
    ),
  }
}
