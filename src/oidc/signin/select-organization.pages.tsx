import type { VNode } from 'preact'
import { getInitial } from '../../core/initial.ts'
import { BidiText, StepForm } from '../../pages/page-shell.pages.tsx'
import { AccountList } from '../../pages/parts/account-list.pages.tsx'
import { type PagePerson, SignedInAs } from '../../pages/parts/person.pages.tsx'
import { Message } from '../../pages/parts/words.pages.tsx'
import type { OwnOrganization } from '../model/authorize-request.ts'
import { StepPage, type StepPageProps } from './step/step-page.pages.tsx'

/** Asks which organization the user signs in for. Posts `step=organization` with `organization`, `step=switch` or `step=cancel`. */
export const SelectOrganizationPage = ({
  organizations,
  person,
  ...page
}: StepPageProps & {
  organizations: readonly Pick<OwnOrganization, 'id' | 'slug' | 'name'>[]
  person: PagePerson
}): VNode => (
  <StepPage
    {...page}
    title={<Message of="select.organization" />}
    lead={<Message of="signIn.toContinueTo" client={<BidiText>{page.client.name}</BidiText>} />}
    alternatives={null}
  >
    <SignedInAs interaction={page.interaction} person={person} />
    <AccountList>
      {organizations.map(({ id, slug, name }) => (
        <li key={id}>
          <StepForm interaction={page.interaction} step="organization">
            <button type="submit" name="organization" value={id} class="account">
              <span class="person-mark" aria-hidden="true">
                {getInitial(name)}
              </span>
              <span class="person-text">
                <span class="person-name">
                  <BidiText>{name}</BidiText>
                </span>
                <span class="hint">
                  <BidiText>{slug}</BidiText>
                </span>
              </span>
            </button>
          </StepForm>
        </li>
      ))}
    </AccountList>
  </StepPage>
)
