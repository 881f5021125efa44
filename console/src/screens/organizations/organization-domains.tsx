import { type FormEvent, useState } from 'react'
import { graphql, useFragment } from 'react-relay/hooks'
import type { organizationDomains_organization$key } from '../../generated/organizationDomains_organization.graphql.ts'
import type { organizationDomainsAddMutation } from '../../generated/organizationDomainsAddMutation.graphql.ts'
import type { organizationDomainsCheckMutation } from '../../generated/organizationDomainsCheckMutation.graphql.ts'
import type { organizationDomainsDeleteMutation } from '../../generated/organizationDomainsDeleteMutation.graphql.ts'
import type {
  DomainEnrollment,
  organizationDomainsUpdateMutation,
} from '../../generated/organizationDomainsUpdateMutation.graphql.ts'
import { CopiedText } from '../../parts/copied-text.tsx'
import { ConfirmedButton } from '../../parts/dialog.tsx'
import { Field, ProblemText } from '../../parts/form.tsx'
import { useProblemMutation } from '../../parts/mutation.ts'
import { Time } from '../../parts/time.tsx'
import { t } from '../../words/words.ts'

const STATES: Record<string, string> = {
  PENDING: t('not proven'),
  VERIFIED: t('proven'),
  EXPIRING: t('proven, but the record is gone'),
}

const PROBLEMS: Record<string, string> = {
  MISSING: t('The last check found no TXT record of this name.'),
  DIFFERENT: t('The last check found another value under this name.'),
  UNANSWERED: t('The DNS did not answer the last check.'),
}

/** The domains of an organization, with the records that prove them. */
export function OrganizationDomains({
  organization,
  mayWrite,
  onChange,
}: {
  organization: organizationDomains_organization$key
  mayWrite: boolean
  onChange: () => void
}) {
  const { id: organizationId, domains } = useFragment(
    graphql`
      fragment organizationDomains_organization on Organization {
        id
        domains(first: 50) {
          nodes {
            id
            domain
            enrollment
            state
            recordName
            recordValue
            problem
            checkedAt
            expiresAt
          }
        }
      }
    `,
    organization,
  )
  const check = useProblemMutation<organizationDomainsCheckMutation>(graphql`
    mutation organizationDomainsCheckMutation($organizationDomainId: ID!) {
      verifyOrganizationDomain(input: { organizationDomainId: $organizationDomainId }) {
        ... on VerifyOrganizationDomainPayload {
          organizationDomain {
            id
            state
            problem
            checkedAt
            expiresAt
          }
        }
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  const update = useProblemMutation<organizationDomainsUpdateMutation>(graphql`
    mutation organizationDomainsUpdateMutation($organizationDomainId: ID!, $enrollment: DomainEnrollment!) {
      updateOrganizationDomain(
        input: { organizationDomainId: $organizationDomainId, enrollment: $enrollment }
      ) {
        ... on UpdateOrganizationDomainPayload {
          organizationDomain {
            id
            enrollment
          }
        }
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  const remove = useProblemMutation<organizationDomainsDeleteMutation>(graphql`
    mutation organizationDomainsDeleteMutation($organizationDomainId: ID!) {
      deleteOrganizationDomain(input: { organizationDomainId: $organizationDomainId }) {
        ... on DeleteOrganizationDomainPayload {
          deletedOrganizationDomainId
        }
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  if (!domains) return null
  return (
    <section className="card">
      <h2>{t('Domains')}</h2>
      {mayWrite && <AddDomain organizationId={organizationId} onAdded={onChange} />}
      {domains.nodes.length === 0 && <p className="empty">{t('The organization has no domain yet.')}</p>}
      {domains.nodes.map(
        ({ id, domain, enrollment, state, recordName, recordValue, problem, checkedAt, expiresAt }) => (
          <section key={id} aria-label={domain}>
            <h3>{domain}</h3>
            <dl className="facts">
              <dt>{t('State')}</dt>
              <dd>
                {STATES[state] ?? state}
                {expiresAt && (
                  <>
                    {' · '}
                    {t('until')} <Time at={expiresAt} />
                  </>
                )}
              </dd>
              <dt>{t('Name of the TXT record')}</dt>
              <dd>
                <CopiedText text={recordName} />
              </dd>
              <dt>{t('Value')}</dt>
              <dd>
                <CopiedText text={recordValue} />
              </dd>
              <dt>{t('Last check')}</dt>
              <dd>{checkedAt ? <Time at={checkedAt} /> : <span className="none">{t('never')}</span>}</dd>
            </dl>
            {problem && <p role="status">{PROBLEMS[problem] ?? problem}</p>}
            {mayWrite && (
              <>
                <label>
                  <input
                    type="checkbox"
                    checked={enrollment === 'AUTOMATIC'}
                    disabled={update.isRunning}
                    onChange={({ target }) => {
                      const chosen: DomainEnrollment = target.checked ? 'AUTOMATIC' : 'NONE'
                      update.run({ organizationDomainId: id, enrollment: chosen }, onChange)
                    }}
                  />{' '}
                  {t('Users who prove an address of this domain become members')}
                </label>
                <div className="actions">
                  <button
                    type="button"
                    className="button"
                    disabled={check.isRunning}
                    onClick={() => check.run({ organizationDomainId: id }, onChange)}
                  >
                    {t('Check now')}
                  </button>
                  <ConfirmedButton
                    label={t('Delete')}
                    title={t('Delete {name}?', { name: domain })}
                    consequence={<p>{t('Those who have joined by the domain stay members.')}</p>}
                    isRunning={remove.isRunning}
                    problem={remove.problem}
                    onConfirm={(close) =>
                      remove.run({ organizationDomainId: id }, () => {
                        close()
                        onChange()
                      })
                    }
                  />
                </div>
              </>
            )}
          </section>
        ),
      )}
      <ProblemText problem={check.problem ?? update.problem} shown={[]} />
    </section>
  )
}

function AddDomain({ organizationId, onAdded }: { organizationId: string; onAdded: () => void }) {
  const [domain, setDomain] = useState('')
  const { run, isRunning, problem } = useProblemMutation<organizationDomainsAddMutation>(graphql`
    mutation organizationDomainsAddMutation($input: CreateOrganizationDomainInput!) {
      createOrganizationDomain(input: $input) {
        ... on CreateOrganizationDomainPayload {
          organizationDomain {
            id
          }
        }
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    run({ input: { organizationId, domain: domain.trim() } }, () => {
      setDomain('')
      onAdded()
    })
  }
  return (
    <form onSubmit={submit} noValidate>
      <Field
        label={t('Add a domain of e-mail addresses')}
        name="domain"
        hint={t('A TXT record in the DNS proves it.')}
        problem={problem}
      >
        {(props) => (
          <input
            {...props}
            autoComplete="off"
            autoCapitalize="none"
            value={domain}
            onChange={({ target }) => setDomain(target.value)}
          />
        )}
      </Field>
      <ProblemText problem={problem} shown={['domain']} />
      <div className="actions">
        <button type="submit" className="button" disabled={domain.trim() === '' || isRunning}>
          {t('Add domain')}
        </button>
      </div>
    </form>
  )
}
