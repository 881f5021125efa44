import type { ObjectRef } from '@pothos/core'
import { getRefFromModel } from '@pothos/plugin-prisma'
import type { Client, Session, User } from '../generated/prisma/client.ts'
import { builder, type GraphQLTypes } from './builder.ts'

const refOf = <Row>(model: string) =>
  getRefFromModel(model, builder) as unknown as ObjectRef<GraphQLTypes, Row>

/** Types that domain files declare, by model: who only shows a row need not import the file that declares its type. */
export const UserRef = refOf<User>('User')
export const SessionRef = refOf<Session>('Session')
export const ClientRef = refOf<Client>('Client')
