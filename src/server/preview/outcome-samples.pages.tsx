import type { VNode } from 'preact'
import {
  CancelEnrollmentPage,
  EnrolledPage,
  EnrollmentCanceledPage,
  EnrollmentExpiredPage,
  EnrollmentPage,
  EnrollmentWaitingPage,
} from '../../account/enrollment.pages.tsx'
import {
  InvitationAcceptedPage,
  InvitationExpiredPage,
  InvitationPage,
} from '../../invitations/invitation.pages.tsx'
import type { Words } from '../../languages/translations.ts'
import { DeviceApprovedPage, DeviceDeniedPage } from '../../oidc/device/device.pages.tsx'
import { LogoutChoicePage, LogoutConfirmPage, UpstreamLogoutPage } from '../../oidc/logout/logout.pages.tsx'
import { SetupExpiredPage, SetupPage, SetupStartPage } from '../../organization-setup/setup.pages.tsx'
import type { PageTenant } from '../../pages/page-shell.pages.tsx'
import {
  ErrorPage,
  FinishedSignInPage,
  SignedOutPage,
  StillSignedInPage,
} from '../../pages/parts/outcome.pages.tsx'
import { APP_URL, CLIENT, createSampleForm, PERSON } from './samples.ts'

/** Invitations, links by which a passkey is created, sign-out, and the ends of a sign-in. */
export function buildOutcomeSamples(words: Words, tenant: PageTenant, now: Date): Record<string, VNode> {
  const interaction = createSampleForm(tenant)
  const shown = { tenant, client: CLIENT, interaction }
  const accounts = [PERSON, { name: 'Grace Hopper', email: 'grace@example.com' }].map((person) => ({
    ...person,
    id: person.email,
    isActive: true,
    lastSeenAt: now,
  }))
  return {
    'organization-setup-start': <SetupStartPage tenant={tenant} form={interaction} />,
    'organization-setup': (
      <SetupPage
        tenant={tenant}
        form={interaction}
        name="Acme"
        domains={[
          {
            id: 'orgdomain_1',
            domain: 'acme.example',
            state: 'pending',
            recordName: '_vestibule-challenge.acme.example',
            recordValue: '0'.repeat(43),
            problem: 'missing',
          },
        ]}
        provider={{ callbackUrl: `${APP_URL}/callback`, isStored: true, issuer: APP_URL, clientId: 'acme' }}
        faults={['endpoint missing']}
      />
    ),
    'organization-setup-expired': <SetupExpiredPage tenant={tenant} />,
    'device-approved': <DeviceApprovedPage tenant={tenant} />,
    'device-denied': <DeviceDeniedPage tenant={tenant} />,
    'sign-in-finished': <FinishedSignInPage tenant={tenant} person={PERSON} />,
    invitation: (
      <InvitationPage
        tenant={tenant}
        interaction={interaction}
        address={PERSON.email}
        inviterName="Grace Hopper"
        account={null}
      />
    ),
    'invitation-accepted': <InvitationAcceptedPage tenant={tenant} client={CLIENT} startAt={APP_URL} />,
    'invitation-expired': <InvitationExpiredPage tenant={tenant} />,
    enrollment: <EnrollmentPage tenant={tenant} label={PERSON.email} token="" path="/" />,
    enrolled: <EnrolledPage tenant={tenant} />,
    'enrollment-waiting': <EnrollmentWaitingPage tenant={tenant} usableAt={now} />,
    'enrollment-expired': <EnrollmentExpiredPage tenant={tenant} />,
    'enrollment-cancel': <CancelEnrollmentPage tenant={tenant} interaction={interaction} />,
    'enrollment-canceled': <EnrollmentCanceledPage tenant={tenant} />,
    logout: <LogoutConfirmPage {...shown} person={PERSON} account="" />,
    'logout-choice': <LogoutChoicePage {...shown} accounts={accounts} />,
    'logout-at-a-provider': (
      <UpstreamLogoutPage tenant={tenant} client={CLIENT} name="Google" url={APP_URL} />
    ),
    'signed-out': <SignedOutPage tenant={tenant} client={CLIENT} startAt={APP_URL} />,
    'still-signed-in': <StillSignedInPage tenant={tenant} />,
    error: (
      <ErrorPage
        tenant={tenant}
        title={words.text('error.other')}
        message={words.text('error.client')}
        requestId="req_example"
      />
    ),
  }
}
