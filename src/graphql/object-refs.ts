import type { ObjectRef } from '@pothos/core'
import { getRefFromModel } from '@pothos/plugin-prisma'
import type { Client, Membership, Organization, Session, User } from '../generated/prisma/client.ts'
import { builder, type GraphQLTypes } from './builder.ts'

const getObjectRef = <Row>(model: string) =>
  getRefFromModel(model, builder) as unknown as ObjectRef<GraphQLTypes, Row>

/** References to types by model, for files that do not import the file which declares the type. */
export const UserRef = getObjectRef<User>('User')
export const SessionRef = getObjectRef<Session>('Session')
export const ClientRef = getObjectRef<Client>('Client')
export const OrganizationRef = getObjectRef<Organization>('Organization')
export const MembershipRef = getObjectRef<Membership>('Membership')
