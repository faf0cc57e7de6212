import { RunError } from '../../../schemas/account-events.ts'
import {
  AuditedAccount,
  AuditedAccountList,
  AuditedRead,
  AuditedReadList,
  SealList,
  Verification,
} from '../../../schemas/api/audit.ts'
import { Balance } from '../../../schemas/api/balance.ts'
import { RunErrorCode, RunId, RunStatus, Timestamp, UploadId } from '../../../schemas/api/common.ts'
import {
  DeliveryStatus,
  WebhookAttempt,
  WebhookDelivery,
  WebhookDeliveryList,
  WebhookTest,
  WebhookTestRequest,
} from '../../../schemas/api/delivery.ts'
import { McpDescriptor, OpenApi, ToolSummary } from '../../../schemas/api/descriptors.ts'
import { ErrorBody, ErrorCode, Fault } from '../../../schemas/api/error.ts'
import { Health, Readiness } from '../../../schemas/api/health.ts'
import { ApiKey, CreatedKey, KeyId, KeyList, NewKey, OwnKey, RevokedKey, Scope } from '../../../schemas/api/key.ts'
import { LedgerKind, LedgerLine, LedgerList } from '../../../schemas/api/ledger.ts'
import { JsonRpcAnswer, JsonRpcError, JsonRpcMessage, JsonRpcResult } from '../../../schemas/api/mcp.ts'
import { ModelEndpoint, ModelFamily, ModelList, Pricing } from '../../../schemas/api/model.ts'
import * as notices from '../../../schemas/api/notice.ts'
import { CreditsOffer, FreeAmount, Pack, PackList } from '../../../schemas/api/packs.ts'
import {
  ModelId,
  Quote,
  QuoteLine,
  Run,
  RunAddress,
  RunList,
  RunOrQuote,
  RunOutput,
  RunRequest,
} from '../../../schemas/api/run.ts'
import { Seal, SealKeySet } from '../../../schemas/api/seal.ts'
import {
  DeletedUpload,
  PresignedUpload,
  PresignRequest,
  Upload,
  UploadList,
  UploadMultipart,
} from '../../../schemas/api/upload.ts'
import { Usage, UsageList } from '../../../schemas/api/usage.ts'
import { WebhookEvent, WebhookSecret, WebhookTestEvent } from '../../../schemas/api/webhook.ts'
import { EndpointStatus, FamilyStatus, Kind, Mode, OutputType, ParametersSchema } from '../../../schemas/catalog.ts'
import { ConsistencyProof, InclusionProof, ProvenEvent, ProvenLeaf, ProvenSeal } from '../../../schemas/proof.ts'
import { LogSealed } from '../../../schemas/seal-events.ts'

/** The shapes with a name in the document. Generated clients use these names for their types. */
export const namedShapes = {
  ...{ ModelList, ModelFamily, ModelEndpoint, Pricing, ParametersSchema },
  ...{ OutputType, FamilyStatus, EndpointStatus, Kind, Mode },
  ...{ RunRequest, ModelId, RunOrQuote, Run, RunList, RunAddress, RunId, RunStatus, RunOutput, RunError, RunErrorCode },
  ...{ Quote, QuoteLine },
  ...{ Balance },
  ...{ PackList, Pack, FreeAmount, CreditsOffer },
  ...{ NewKey, CreatedKey, ApiKey, OwnKey, KeyList, RevokedKey, KeyId, Scope },
  ...{ InclusionProof, ConsistencyProof, ProvenEvent, ProvenLeaf, ProvenSeal },
  ...{ Seal, LogSealed, SealKeySet },
  ...{ AuditedAccount, AuditedAccountList, AuditedRead, AuditedReadList, SealList, Verification },
  ...{ LedgerList, LedgerLine, LedgerKind },
  ...{ UsageList, Usage },
  ...{ Upload, UploadId, UploadList, UploadMultipart, PresignRequest, PresignedUpload, DeletedUpload },
  ...notices,
  ...{ WebhookEvent, WebhookSecret, WebhookTestEvent, WebhookTest, WebhookTestRequest },
  ...{ WebhookDelivery, WebhookDeliveryList, DeliveryStatus, WebhookAttempt },
  ...{ JsonRpcMessage, JsonRpcAnswer, JsonRpcResult, JsonRpcError },
  ...{ OpenApi, McpDescriptor, ToolSummary },
  ...{ Health, Readiness },
  ...{ ErrorBody, ErrorCode, Fault, Timestamp },
}
