/**
 * Types for the part of node-zookeeper-client 1.1.3 that is used here, derived from its source. The package
 * has no types, and third-party types for it are partly wrong.
 */

declare module 'node-zookeeper-client/lib/jute/index.js' {
  namespace jute {
    interface Payload {
      setChrootPath(path: string | undefined): void;
      byteLength(): number;
      serialize(buffer: Buffer, offset: number): number;
    }

    /**
     * A record on the wire. Longs are Buffers of 8 bytes. A null buffer, string or vector is represented as
     * undefined.
     */
    interface Record extends Payload {
      readonly specification: readonly { readonly name: string; readonly type: string }[];
      deserialize(buffer: Buffer, offset: number): number;
    }

    interface RequestHeader extends Record {
      xid: number;
      type: number;
    }

    interface ReplyHeader extends Record {
      xid: number;
      zxid: Buffer;
      err: number;
    }

    interface ConnectRequest extends Record {
      protocolVersion: number;
      lastZxidSeen: Buffer;
      timeOut: number;
      sessionId: Buffer;
      passwd: Buffer;
    }

    interface ConnectResponse extends Record {
      protocolVersion: number;
      timeOut: number;
      sessionId: Buffer;
      passwd: Buffer | undefined;
    }

    interface AuthPacket extends Record {
      type: number;
      scheme: string;
      auth: Buffer;
    }

    interface SetWatches extends Record {
      relativeZxid: Buffer;
      dataWatches: string[];
      existWatches: string[];
      childWatches: string[];
    }

    interface WatcherEvent extends Record {
      type: number;
      state: number;
      path: string | undefined;
    }

    interface WithPath extends Record {
      path: string;
    }

    interface Stat extends Record {
      czxid: Buffer;
      mzxid: Buffer;
      pzxid: Buffer;
      ctime: Buffer;
      mtime: Buffer;
      version: number;
      cversion: number;
      aversion: number;
      ephemeralOwner: Buffer;
      dataLength: number;
      numChildren: number;
    }

    interface TransactionResult {
      type: number;
      path?: string;
      stat?: Stat;
      err?: number;
    }

    interface AclEntry {
      toRecord(): Record;
    }

    interface AclRecord {
      perms: number;
      id: { scheme: string; id: string };
    }

    interface GetACLResponse extends Record {
      acl: AclRecord[];
      stat: Stat;
    }

    type TransactionOperation =
      | { type: number; path: string; data: Buffer; acls: readonly AclEntry[]; mode: number }
      | { type: number; path: string; data: Buffer; version: number }
      | { type: number; path: string; version: number };

    class TransactionRequest implements Payload {
      constructor(operations: readonly TransactionOperation[]);
      setChrootPath(path: string | undefined): void;
      byteLength(): number;
      serialize(buffer: Buffer, offset: number): number;
    }

    class TransactionResponse implements Record {
      readonly specification: never[];
      results: TransactionResult[];
      setChrootPath(path: string | undefined): void;
      byteLength(): number;
      serialize(buffer: Buffer, offset: number): number;
      deserialize(buffer: Buffer, offset: number): number;
    }

    class Request {
      constructor(header: RequestHeader | null, payload: Payload | null);
      header: RequestHeader | null;
      payload: Payload | null;
      /** Returns the whole frame, including its length prefix. */
      toBuffer(): Buffer;
    }

    class Response {
      constructor(header: ReplyHeader, payload: Record | null);
      header: ReplyHeader;
      payload: Record | null;
    }

    interface Protocol {
      RequestHeader: new (xid?: number, type?: number) => RequestHeader;
      ReplyHeader: new () => ReplyHeader;
      ConnectRequest: new (
        protocolVersion: number,
        lastZxidSeen: Buffer,
        timeOut: number,
        sessionId: Buffer,
        passwd: Buffer,
      ) => ConnectRequest;
      ConnectResponse: new () => ConnectResponse;
      AuthPacket: new (type: number, scheme: string, auth: Buffer) => AuthPacket;
      SetWatches: new (
        relativeZxid: Buffer,
        dataWatches: string[],
        existWatches: string[],
        childWatches: string[],
      ) => SetWatches;
      WatcherEvent: new () => WatcherEvent;
      ErrorResponse: new () => Record;
      CreateResponse: new () => WithPath;
      GetACLRequest: new (path: string) => WithPath;
      GetACLResponse: new () => GetACLResponse;
      SetACLResponse: new () => Record;
      GetChildren2Response: new () => Record;
      ExistsResponse: new () => Record;
      SetDataResponse: new () => Record;
      GetDataResponse: new () => Record;
    }

    const PROTOCOL_VERSION: number;
    const OP_CODES: {
      CREATE: number;
      DELETE: number;
      EXISTS: number;
      GET_DATA: number;
      SET_DATA: number;
      GET_ACL: number;
      SET_ACL: number;
      SYNC: number;
      PING: number;
      GET_CHILDREN2: number;
      CHECK: number;
      MULTI: number;
      AUTH: number;
      SET_WATCHES: number;
      CLOSE_SESSION: number;
      ERROR: number;
    };
    const XID_NOTIFICATION: number;
    const XID_PING: number;
    const XID_AUTHENTICATION: number;
    const protocol: Protocol;
    const data: { readonly Stat: new () => Stat };
  }
  export = jute;
}

declare module 'node-zookeeper-client/lib/ConnectionManager.js' {
  import type { EventEmitter } from 'node:events';
  import type jute from 'node-zookeeper-client/lib/jute/index.js';

  interface WatcherManager {
    getDataWatcherPaths(): string[];
    getExistenceWatcherPaths(): string[];
    getChildWatcherPaths(): string[];
    /** Notifies the watchers of an event. Throws for unknown event types. */
    emit(event: jute.WatcherEvent): void;
  }

  class ConnectionManager extends EventEmitter {
    constructor(connectionString: string, options: object, stateListener: (state: number) => void);
    watcherManager: WatcherManager;
    chrootPath: string | undefined;
    /** The newest zxid (transaction id) seen. */
    zxid: Buffer;
    sessionId: Buffer;
    sessionPassword: Buffer;
    connect(): void;
    queue(request: jute.Request, callback: ConnectionManager.QueueCallback): void;
  }

  namespace ConnectionManager {
    /** Error with the properties that the client's own methods require. */
    interface CodedError extends Error {
      code: number;
      getCode(): number;
    }
    type QueueCallback = (error: CodedError | null, response?: jute.Response) => void;
  }
  export = ConnectionManager;
}

declare module 'node-zookeeper-client' {
  import type ConnectionManager from 'node-zookeeper-client/lib/ConnectionManager.js';
  import type jute from 'node-zookeeper-client/lib/jute/index.js';

  namespace zookeeper {
    type Failure = ConnectionManager.CodedError | null | undefined;
    type Watcher = () => void;

    interface Client {
      connectionManager: ConnectionManager;
      options: object;
      onConnectionManagerState(state: number): void;
      connect(): void;
      create(
        path: string,
        data: Buffer,
        acls: readonly jute.AclEntry[],
        mode: number,
        callback: (error: Failure, path: string) => void,
      ): void;
      remove(path: string, version: number, callback: (error: Failure) => void): void;
      setData(
        path: string,
        data: Buffer,
        version: number,
        callback: (error: Failure, stat: jute.Stat) => void,
      ): void;
      setACL(
        path: string,
        acls: readonly jute.AclEntry[],
        version: number,
        callback: (error: Failure, stat: jute.Stat) => void,
      ): void;
      getData(
        path: string,
        watcher: Watcher | undefined,
        callback: (error: Failure, data: Buffer | undefined, stat: jute.Stat) => void,
      ): void;
      exists(
        path: string,
        watcher: Watcher | undefined,
        callback: (error: Failure, stat: jute.Stat | null) => void,
      ): void;
      getChildren(
        path: string,
        watcher: Watcher | undefined,
        callback: (error: Failure, children: string[] | undefined, stat: jute.Stat) => void,
      ): void;
    }

    function createClient(
      connectionString: string,
      options: { sessionTimeout: number; retries: number },
    ): Client;
    const Id: new (scheme: string, id: string) => { readonly scheme: string; readonly id: string };
    /** Constructor of an ACL entry. Throws for permissions outside 1 to 31. */
    const ACL: new (permissions: number, id: InstanceType<typeof Id>) => jute.AclEntry;
    const CreateMode: {
      PERSISTENT: number;
      PERSISTENT_SEQUENTIAL: number;
      EPHEMERAL: number;
      EPHEMERAL_SEQUENTIAL: number;
    };
    const Event: { NODE_CREATED: number; NODE_CHILDREN_CHANGED: number };
  }
  export = zookeeper;
}
