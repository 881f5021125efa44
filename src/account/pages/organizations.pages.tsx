import type { VNode } from 'preact'
import type { OwnInvitation } from '../../invitations/own-invitations.ts'
import { BidiText } from '../../pages/page-shell.pages.tsx'
import { Fact, PlainList, StepButton } from '../../pages/parts/controls.pages.tsx'
import { Hint, Message, useWords } from '../../pages/parts/words.pages.tsx'
import type { OwnOrganization } from '../organizations.ts'
import { AccountItem, type AccountPageProps, AccountShell } from './account-shell.pages.tsx'
import { Moment } from './moment.pages.tsx'

type OrganizationsPageProps = AccountPageProps & {
  organizations: readonly OwnOrganization[]
  invitations: readonly OwnInvitation[]
  /** The console, in which administrators manage their organization; null where there is none. */
  consoleUrl: string | null
}

type ItemProps = Pick<OrganizationsPageProps, 'form' | 'timeZone'>

const InvitationItem = ({
  invitation: { id, organizationName: name, inviterName, expiresAt },
  form,
  timeZone,
}: ItemProps & { invitation: OwnInvitation }): VNode => {
  const words = useWords()
  return (
    <AccountItem heading={<BidiText>{name}</BidiText>} tag={<Message of="organizations.invitation" />}>
      <dl class="claims">
        {inviterName && (
          <Fact of="organizations.invitedBy">
            <BidiText>{inviterName}</BidiText>
          </Fact>
        )}
        <Fact of="apiKeys.expires">
          <Moment at={expiresAt} timeZone={timeZone} />
        </Fact>
      </dl>
      {(['accept', 'decline'] as const).map((step) => (
        <StepButton
          key={step}
          interaction={form}
          step={step}
          of={step === 'accept' ? 'invitation.accept' : 'organizations.decline'}
          look={step === 'accept' ? 'primary' : 'quiet'}
          fields={{ invitation: id }}
          label={words.text(`organizations.${step}Name`, { name })}
        />
      ))}
    </AccountItem>
  )
}

const OrganizationItem = ({
  organization: { id, name, isAdministrator, roles, since },
  form,
  timeZone,
  consoleUrl,
}: ItemProps & Pick<OrganizationsPageProps, 'consoleUrl'> & { organization: OwnOrganization }): VNode => (
  <AccountItem
    heading={<BidiText>{name}</BidiText>}
    tag={isAdministrator && <Message of="organizations.administrator" />}
  >
    <dl class="claims">
      {roles.length > 0 && (
        <Fact of="organizations.roles">
          <BidiText>{roles.join(', ')}</BidiText>
        </Fact>
      )}
      <Fact of="organizations.since">
        <Moment at={since} timeZone={timeZone} />
      </Fact>
    </dl>
    {isAdministrator && consoleUrl && (
      <p>
        <a href={`${consoleUrl}/organizations/${id}`}>
          <Message of="organizations.manage" name={<BidiText>{name}</BidiText>} />
        </a>
      </p>
    )}
    <details class="stack">
      <summary>
        <Message of="organizations.leaveName" name={<BidiText>{name}</BidiText>} />
      </summary>
      <Hint of="organizations.leaveText" />
      <StepButton
        interaction={form}
        step="leave"
        of="organizations.leave"
        look="secondary"
        fields={{ organization: id }}
        label={useWords().text('organizations.leaveName', { name })}
      />
    </details>
  </AccountItem>
)

/**
 * Lists the invitations and the organizations of the user. Posts `step=accept` or `decline` with `invitation`, or `step=leave` with
 * `organization`.
 */
export const OrganizationsPage = ({
  form,
  timeZone,
  organizations,
  invitations,
  consoleUrl,
  ...shell
}: OrganizationsPageProps): VNode => (
  <AccountShell {...shell} title="account.organizations" lead={<Message of="organizations.lead" />}>
    <PlainList class="messages">
      {invitations.map((invitation) => (
        <InvitationItem key={invitation.id} invitation={invitation} form={form} timeZone={timeZone} />
      ))}
      {organizations.map((organization) => (
        <OrganizationItem
          key={organization.id}
          organization={organization}
          form={form}
          timeZone={timeZone}
          consoleUrl={consoleUrl}
        />
      ))}
    </PlainList>
  </AccountShell>
)
