import { getConsoleUrl } from '../../clients/console-client.ts'
import { env } from '../../core/env.ts'
import { NotFound } from '../../core/errors.ts'
import {
  acceptViewerInvitation,
  declineViewerInvitation,
  listViewerInvitations,
} from '../../invitations/own-invitations.ts'
import { leaveViewerOrganization, listViewerOrganizations } from '../organizations.ts'
import { type AccountPage, renderVisit } from './account-page.http.ts'
import { OrganizationsPage } from './organizations.pages.tsx'

/** The organizations of the user, and the invitations to others. */
export const ORGANIZATIONS_PAGE: AccountPage = {
  path: '/organizations',
  show: async (visit, problem) => {
    const { ctx, notice } = visit
    const [organizations, invitations] = await Promise.all([
      listViewerOrganizations(ctx),
      listViewerInvitations(ctx),
    ])
    if (organizations.length + invitations.length === 0 && !notice && !problem) throw new NotFound('page')
    return renderVisit(visit, problem, OrganizationsPage, {
      organizations,
      invitations,
      consoleUrl: env.console ? getConsoleUrl(ctx.tenant) : null,
    })
  },
  forms: {
    leave: ['left', ({ ctx }, { organization = '' }) => leaveViewerOrganization(ctx, organization)],
    accept: ['joined', ({ ctx }, { invitation = '' }) => acceptViewerInvitation(ctx, invitation)],
    decline: ['declined', ({ ctx }, { invitation = '' }) => declineViewerInvitation(ctx, invitation)],
  },
}
