import type { VNode } from 'preact'
import type { OrganizationDomain } from '../generated/prisma/client.ts'
import type { PlainMessageKey } from '../languages/messages.ts'
import {
  BidiText,
  ErrorMessage,
  type PageInteraction,
  PageShell,
  type PageTenant,
  StepForm,
} from '../pages/page-shell.pages.tsx'
import { Fact, PlainList, StepButton, SubmitButton } from '../pages/parts/controls.pages.tsx'
import { Hint, Message, Paragraph, useWords } from '../pages/parts/words.pages.tsx'

/** Shown before a link is opened. Posts `step=start`. */
export const SetupStartPage = ({ tenant, form }: { tenant: PageTenant; form: PageInteraction }): VNode => (
  <PageShell title={<Message of="setup.title" />} lead={<Message of="setup.lead" />} tenant={tenant}>
    <Hint of="setup.startText" />
    <StepButton interaction={form} step="start" class="stack" of="setup.start" />
  </PageShell>
)

/** Shown for a link that does not work, and after the visit. */
export const SetupExpiredPage = ({ tenant }: { tenant: PageTenant }): VNode => (
  <PageShell
    title={<Message of="setup.expiredTitle" />}
    lead={<Message of="setup.expiredText" />}
    tenant={tenant}
    outcome="neutral"
  >
    {null}
  </PageShell>
)

type ShownDomain = Pick<
  OrganizationDomain,
  'id' | 'domain' | 'state' | 'recordName' | 'recordValue' | 'problem'
>

type SetupPageProps = {
  tenant: PageTenant
  form: PageInteraction
  /** The name of the organization. */
  name: string
  domains: readonly ShownDomain[]
  provider: { callbackUrl: string; isStored: boolean; issuer?: string | null; clientId?: string | null }
  /** What the test of the provider found; null before a test. */
  faults?: readonly string[] | null
  /** What was entered in a form that was rejected, and why. */
  values?: Record<string, string>
  messages?: readonly string[]
}

const PROBLEMS: Record<string, PlainMessageKey> = {
  missing: 'setup.missing',
  different: 'setup.different',
  unanswered: 'setup.unanswered',
}

const Domain = ({
  domain: { id, domain, state, recordName, recordValue, problem },
  form,
}: { domain: ShownDomain } & Pick<SetupPageProps, 'form'>): VNode => (
  <li class="message">
    <div class="row between">
      <h3>
        <BidiText>{domain}</BidiText>
      </h3>
      <span class="tag">
        <Message of={state === 'pending' ? 'setup.pending' : 'setup.verified'} />
      </span>
    </div>
    <dl class="reference">
      <Fact of="setup.recordName">
        <code>{recordName}</code>
      </Fact>
      <Fact of="setup.recordValue">
        <code>{recordValue}</code>
      </Fact>
    </dl>
    {problem && PROBLEMS[problem] && <Hint of={PROBLEMS[problem]} />}
    <StepButton
      interaction={form}
      step="check-domain"
      of="setup.check"
      look="secondary"
      fields={{ id }}
      label={useWords().text('setup.checkName', { name: domain })}
    />
  </li>
)

type InputProps = {
  name: 'domain' | 'issuer' | 'clientId' | 'clientSecret'
  value?: string | null
  type?: 'text' | 'password'
}

const Input = ({ name, value, type = 'text' }: InputProps): VNode => (
  <div class="field">
    <label for={name}>
      <Message of={`label.${name}`} />
    </label>
    <input
      id={name}
      name={name}
      type={type as 'text'}
      autocomplete="off"
      spellcheck={false}
      dir="ltr"
      value={value ?? ''}
    />
  </div>
)

const ProviderTest = ({ faults }: { faults: readonly string[] }): VNode => (
  <div class="pending" role="status">
    <Message of={faults.length === 0 ? 'setup.passed' : 'setup.failed'} />
    <ul>
      {faults.map((fault) => (
        <li key={fault}>
          <BidiText>{fault}</BidiText>
        </li>
      ))}
    </ul>
  </div>
)

/**
 * Sets up an organization. Posts `step=add-domain` with `domain`, `check-domain` with `id`, `save-provider` with `issuer`,
 * `clientId` and `clientSecret`, or `test-provider`.
 */
export const SetupPage = ({
  tenant,
  form,
  name,
  domains,
  provider,
  faults,
  values = {},
  messages = [],
}: SetupPageProps): VNode => (
  <PageShell
    title={<Message of="setup.title" />}
    lead={<Message of="setup.organization" organization={<BidiText>{name}</BidiText>} />}
    tenant={tenant}
    isError={messages.length > 0}
    wide
  >
    {messages.map((message) => (
      <ErrorMessage key={message}>
        <BidiText>{message}</BidiText>
      </ErrorMessage>
    ))}
    <h2>
      <Message of="setup.domains" />
    </h2>
    <Paragraph of="setup.domainsText" />
    {domains.length > 0 && (
      <PlainList class="messages">
        {domains.map((domain) => (
          <Domain key={domain.id} domain={domain} form={form} />
        ))}
      </PlainList>
    )}
    <StepForm interaction={form} step="add-domain" class="stack">
      <Input name="domain" value={values.domain} />
      <SubmitButton of="setup.add" look="secondary" />
    </StepForm>
    <h2>
      <Message of="setup.provider" />
    </h2>
    <Paragraph of="setup.providerText" />
    <dl class="reference">
      <Fact of="setup.redirectUri">
        <code>{provider.callbackUrl}</code>
      </Fact>
    </dl>
    {faults && <ProviderTest faults={faults} />}
    <StepForm interaction={form} step="save-provider" class="stack">
      <Input name="issuer" value={values.issuer ?? provider.issuer} />
      <Input name="clientId" value={values.clientId ?? provider.clientId} />
      <Input name="clientSecret" type="password" />
      {provider.isStored && <Hint of="setup.secretKept" />}
      <SubmitButton of="setup.save" />
    </StepForm>
    {provider.isStored && (
      <StepButton interaction={form} step="test-provider" of="setup.test" look="secondary" />
    )}
  </PageShell>
)
